//! The gradient of features: a unit gathers one pixel in up to 32 channels, from the gradient of an average or from the
//! winners of a maximum.

use cubecl::prelude::*;

use super::list::{list_regions, region_list};
use super::maximum::{PLANES, add_winners_of_block};
use super::tile::{
    SIDE, Strides, Tile, add_gradient, groups, place_of_element, strides, sums_of_blocks, tile, write_pixel,
};
use super::weights::{
    REGIONS, Weights, elements_at, is_kept, kept_weight, look, looker_x, looker_y, region_of_unit, weights,
};
use crate::backend::cube::launch::UNITS;
use crate::backend::cube::plan::layout::{AxisLayout, PlanLayout, planned_element, weight_of_pixel};
use crate::backend::cube::unit::channels::CHANNELS;
use crate::geometry::operator::ChannelMap;
use crate::geometry::real::single::between::Reach;

/// How many blocks of channels a cube gathers at most.
pub const TOGETHER: usize = 4;

/// What is gathered. It is compiled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GatherOptions {
    pub channel_map: ChannelMap,
    pub gathered: Gathered,
    /// How many blocks of channels a cube gathers.
    pub blocks: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gathered {
    /// The gradient of an average.
    Average,
    /// The winners of a maximum, which lie on pixels.
    WinnersOnPixels,
    /// The winners of a maximum, which lie between pixels.
    WinnersBetweenPixels,
}

/// The planned regions, and how many cubes gather.
#[derive(CubeType, CubeLaunch)]
pub struct GatherSizes {
    /// The row of the first region of the plan, and how many it has.
    pub first: usize,
    pub regions: usize,
    pub cubes: usize,
}

/// What the units of a cube gather from.
#[derive(CubeType)]
struct Gather<'a, F: Float> {
    gradient: &'a Tensor<F>,
    plans: &'a Tensor<u32>,
    layout: &'a PlanLayout,
    tile: &'a Tile,
    strides: &'a Strides,
    /// The channel after the last of the cube.
    end: usize,
    /// The distance from one plane of winners to the next.
    plane: usize,
    #[cube(comptime)]
    options: GatherOptions,
}

/// Gathers from the planned regions. After the first part of the regions, it adds to what the parts before have given.
#[cube(launch, address_type = "dynamic")]
pub fn gather_axes<F: Float, O: Float>(
    gradient: &Tensor<F>,
    plans: &Tensor<u32>,
    output: &mut Tensor<O>,
    sizes: &GatherSizes,
    layout: &PlanLayout,
    #[comptime] options: GatherOptions,
    #[define(F, O)] _dtypes: [cubecl::ir::ElemType; 2],
) {
    if CUBE_POS >= sizes.cubes {
        terminate!();
    }
    let groups = groups(gradient, options.channel_map);
    let tile = tile(gradient, output, groups, options.blocks);
    let end = (tile.channel + options.blocks * CHANNELS).min(gradient.shape(1));
    let strides = strides(gradient);
    // A tensor of winners has a plane of the shape of the gradient for each of three numbers.
    let plane = gradient.shape(0) / comptime!(PLANES) * strides.region;
    let gather = gather(gradient, plans, layout, &tile, &strides, end, plane, options);
    let mut list = region_list();
    let mut weights = weights();
    let mut sums = sums_of_blocks(options.blocks);
    let mut first = 0usize.runtime();
    while first < sizes.regions {
        let count = list_regions(plans, layout, &tile, sizes.regions, first, &mut list);
        for group in 0..count.div_ceil(comptime!(REGIONS as u32)) {
            let begin = group * comptime!(REGIONS as u32);
            let end_of_group = count.min(begin + comptime!(REGIONS as u32));
            // The weights of the regions before are read by now.
            sync_cube();
            let place = begin + region_of_unit();
            if place < end_of_group {
                look_at_region(&gather, list.rows[place as usize] as usize, &mut weights);
            }
            sync_cube();
            if tile.on_map {
                for place in begin..end_of_group {
                    let number = list.rows[place as usize] as usize;
                    add_region(&gather, &weights, place - begin, number, sizes.first, &mut sums);
                }
            }
        }
        first += UNITS;
    }
    write_pixel(
        output,
        &tile,
        end,
        tile.group,
        groups,
        sizes.first > 0,
        &sums,
        options.blocks,
    );
}

#[cube]
fn gather<'a, F: Float>(
    gradient: &'a Tensor<F>,
    plans: &'a Tensor<u32>,
    layout: &'a PlanLayout,
    tile: &'a Tile,
    strides: &'a Strides,
    end: usize,
    plane: usize,
    #[comptime] options: GatherOptions,
) -> Gather<'a, F> {
    Gather::<'a, F> {
        gradient,
        plans,
        layout,
        tile,
        strides,
        end,
        plane,
        options,
    }
}

/// Looks at a planned region for the row or column of this unit.
#[cube]
fn look_at_region<F: Float>(gather: &Gather<'_, F>, number: usize, weights: &mut Weights) {
    let (plans, layout, tile) = (gather.plans, gather.layout, gather.tile);
    let channel_map = comptime!(gather.options.channel_map);
    let start = number * layout.words;
    let unit = UNIT_POS as usize;
    let place = (unit % SIDE) as u32;
    let columns = layout.x.elements;
    if unit < UNITS / 2 {
        let elements = of_channels(tile.group as u32 / columns, layout.y.elements, channel_map);
        look(weights, plans, start, &layout.y, &elements, tile.first_y + place);
    } else {
        let elements = of_channels(tile.group as u32 % columns, columns, channel_map);
        look(weights, plans, start, &layout.x, &elements, tile.first_x + place);
    }
}

/// All elements, or the one at `index`, which reads the channels of a position-sensitive operator.
#[cube]
fn of_channels(index: u32, elements: u32, #[comptime] channel_map: ChannelMap) -> Reach {
    let mut first = 0u32;
    let mut end = elements;
    if comptime!(channel_map == ChannelMap::PositionSensitive) {
        first = index;
        end = index + 1u32;
    }
    Reach { first, end }
}

/// Adds what a region gives the pixel of this unit. `looked` is the region's number among those looked at together,
/// `number` its number in the plan, whose first region is row `first`.
#[cube]
fn add_region<F: Float>(
    gather: &Gather<'_, F>,
    weights: &Weights,
    looked: u32,
    number: usize,
    first: usize,
    sums: &mut Sequence<Array<f32>>,
) {
    let start = number * gather.layout.words;
    let (looker_y, looker_x) = (looker_y(looked), looker_x(looked));
    let (reach_y, reach_x) = (elements_at(weights, looker_y), elements_at(weights, looker_x));
    let (y, x) = (gather.tile.y, gather.tile.x);
    for p in reach_y.first..reach_y.end {
        let weight_y = weight_of_element(gather, weights, looker_y, start, &gather.layout.y, reach_y.first, p, y);
        if weight_y > 0.0 {
            for q in reach_x.first..reach_x.end {
                let weight_x =
                    weight_of_element(gather, weights, looker_x, start, &gather.layout.x, reach_x.first, q, x);
                if weight_x > 0.0 {
                    add_element(gather, first + number, p, q, weight_y * weight_x, sums);
                }
            }
        }
    }
}

/// The weight of this unit's row or column in an element: the one that `looker` has kept, or one that is looked up.
/// `first` is the first element that reads the row or column.
#[cube]
fn weight_of_element<F: Float>(
    gather: &Gather<'_, F>,
    weights: &Weights,
    looker: usize,
    start: usize,
    axis: &AxisLayout,
    first: u32,
    element: u32,
    pixel: u32,
) -> f32 {
    let number = element - first;
    let mut weight = 0.0f32;
    if is_kept(number) {
        weight = kept_weight(weights, looker, number);
    }
    if !is_kept(number) {
        weight = weight_of_pixel(
            gather.plans,
            &planned_element(gather.plans, start, axis, element),
            pixel,
        );
    }
    weight
}

/// Adds what an element of a region gives the pixel of this unit, in all channels of the cube.
#[cube]
fn add_element<F: Float>(
    gather: &Gather<'_, F>,
    row: usize,
    p: u32,
    q: u32,
    weight: f32,
    sums: &mut Sequence<Array<f32>>,
) {
    let options = comptime!(gather.options);
    let (gradient, strides, tile) = (gather.gradient, gather.strides, gather.tile);
    let place = place_of_element(strides, row, p, q);
    if comptime!(options.gathered == Gathered::Average) {
        add_gradient(
            gradient,
            strides,
            place,
            tile.channel,
            gather.end,
            weight,
            sums,
            options.blocks,
        );
    } else {
        let between_pixels = comptime!(options.gathered == Gathered::WinnersBetweenPixels);
        #[unroll]
        for block in 0..options.blocks {
            let first = tile.channel + block * CHANNELS;
            if first < gather.end {
                let sums = &mut sums[block];
                add_winners_of_block(
                    gradient,
                    strides,
                    place,
                    gather.plane,
                    first,
                    tile,
                    sums,
                    between_pixels,
                );
            }
        }
    }
}
