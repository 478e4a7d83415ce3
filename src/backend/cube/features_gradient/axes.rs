//! The gradient of features: a unit gathers one pixel in up to 16 channels, from the gradient of an average or from the
//! winners of a maximum.

use cubecl::prelude::*;

use super::list::{Gather, gather, list_regions, region_list};
use super::maximum::add_winners_of_block;
use super::tile::{SIDE, add_gradient, groups, tile, write_pixel};
use super::weights::{
    REGIONS, Weights, along, elements_at, is_kept, kept_weight, look, looker_x, looker_y, region_of_unit, weight,
    weights,
};
use crate::backend::cube::launch::{Regions, UNITS};
use crate::backend::cube::unit::channels::CHANNELS;
use crate::backend::cube::unit::plan::AxisPlan;
use crate::backend::cube::unit::region::{BoxRow, read_box};
use crate::geometry::options::Reduction;

/// How many blocks of channels a cube gathers at most.
pub const TOGETHER: usize = 2;

#[cube(launch, address_type = "dynamic")]
pub fn gather_axes<F: Float, R: Float, I: Int, O: Float>(
    gradient: &Tensor<F>,
    regions: &Regions<R, I>,
    output: &mut Tensor<O>,
    plan: &AxisPlan,
    blocks_of_cube: usize,
    cubes: usize,
    #[define(F, R, I, O)] _dtypes: [cubecl::ir::ElemType; 4],
) {
    if CUBE_POS >= cubes {
        terminate!();
    }
    let channel_map = comptime!(plan.settings.channel_map);
    let tile = tile(gradient, output, groups(gradient, channel_map), blocks_of_cube);
    let end = (tile.channel + blocks_of_cube * CHANNELS).min(gradient.shape(1));
    let gather = gather(gradient, regions, plan, &tile, output.shape(0));
    let mut list = region_list();
    let mut weights = weights();
    let mut sums = sums_of_blocks();
    let regions_of_call = regions.boxes.shape(0);
    let mut first = 0usize.runtime();
    while first < regions_of_call {
        let count = list_regions(&gather, first, &mut list);
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
                    let row = list.rows[place as usize] as usize;
                    add_region(&gather, &weights, place - begin, row, end, &mut sums);
                }
            }
        }
        first += UNITS;
    }
    #[unroll]
    for block in 0..TOGETHER {
        let first = tile.channel + block * CHANNELS;
        if first < end {
            write_pixel(output, gradient.shape(1), &tile, first, &sums[block], channel_map);
        }
    }
}

/// Sums of 0, for each block of channels.
#[cube]
fn sums_of_blocks() -> Sequence<Array<f32>> {
    let mut sums = Sequence::<Array<f32>>::new();
    #[unroll]
    for _ in 0..TOGETHER {
        let mut of_block = Array::<f32>::new(CHANNELS);
        #[unroll]
        for lane in 0..CHANNELS {
            of_block[lane] = 0.0;
        }
        sums.push(of_block);
    }
    sums
}

/// The box of a region that was listed, so its image is the tile's.
#[cube]
fn listed_box<F: Float, R: Float, I: Int>(gather: &Gather<'_, F, R, I>, row: usize) -> BoxRow {
    read_box(
        gather.regions,
        row,
        gather.tile.image + 1,
        comptime!(gather.plan.settings.box_format),
    )
}

/// Looks at a region for the row or column of this unit.
#[cube]
fn look_at_region<F: Float, R: Float, I: Int>(gather: &Gather<'_, F, R, I>, row: usize, weights: &mut Weights) {
    let region = listed_box(gather, row);
    let (gradient, plan, tile) = (gather.gradient, gather.plan, gather.tile);
    let channel_map = comptime!(plan.settings.channel_map);
    let (rows, columns) = (gradient.shape(2) as u32, gradient.shape(3) as u32);
    let unit = UNIT_POS as usize;
    let place = (unit % SIDE) as u32;
    if unit < UNITS / 2 {
        let along = along(&region, tile, tile.first_y + place, rows, columns, true, channel_map);
        look(weights, &plan.rules, &along, true);
    } else {
        let along = along(&region, tile, tile.first_x + place, rows, columns, false, channel_map);
        look(weights, &plan.rules, &along, false);
    }
}

/// Adds what a region gives the pixel of this unit. `number` is the region's among those looked at together.
#[cube]
fn add_region<F: Float, R: Float, I: Int>(
    gather: &Gather<'_, F, R, I>,
    weights: &Weights,
    number: u32,
    row: usize,
    end: usize,
    sums: &mut Sequence<Array<f32>>,
) {
    let (looker_y, looker_x) = (looker_y(number), looker_x(number));
    let (reach_y, reach_x) = (elements_at(weights, looker_y), elements_at(weights, looker_x));
    for p in reach_y.first..reach_y.end {
        let weight_y = weight_of_element(gather, weights, looker_y, reach_y.first, row, p, true);
        if weight_y > 0.0 {
            for q in reach_x.first..reach_x.end {
                let weight_x = weight_of_element(gather, weights, looker_x, reach_x.first, row, q, false);
                if weight_x > 0.0 {
                    if comptime!(gather.plan.settings.reduction == Reduction::Average) {
                        add_weighted(gather, row, p, q, weight_y * weight_x, end, sums);
                    } else {
                        add_winners(gather, row, p, q, end, sums);
                    }
                }
            }
        }
    }
}

/// The weight of this unit's row or column in an element of a region: the one that `looker` has kept, or computed.
/// `first` is the first element that reads the row or column.
#[cube]
fn weight_of_element<F: Float, R: Float, I: Int>(
    gather: &Gather<'_, F, R, I>,
    weights: &Weights,
    looker: usize,
    first: u32,
    row: usize,
    element: u32,
    #[comptime] is_y: bool,
) -> f32 {
    let (gradient, plan, tile) = (gather.gradient, gather.plan, gather.tile);
    let channel_map = comptime!(plan.settings.channel_map);
    let number = element - first;
    let mut of_element = 0.0f32;
    if is_kept(number) {
        of_element = kept_weight(weights, looker, number);
    }
    if !is_kept(number) {
        let (rows, columns) = (gradient.shape(2) as u32, gradient.shape(3) as u32);
        let region = listed_box(gather, row);
        let pixel = if comptime!(is_y) { tile.y } else { tile.x };
        let along = along(&region, tile, pixel, rows, columns, is_y, channel_map);
        of_element = weight(&plan.rules, &along, element, is_y);
    }
    of_element
}

/// Adds the weighted gradient of an element in all channels of the cube, up to `end`.
#[cube]
fn add_weighted<F: Float, R: Float, I: Int>(
    gather: &Gather<'_, F, R, I>,
    row: usize,
    p: u32,
    q: u32,
    weight: f32,
    end: usize,
    sums: &mut Sequence<Array<f32>>,
) {
    #[unroll]
    for block in 0..TOGETHER {
        let first = gather.tile.channel + block * CHANNELS;
        if first < end {
            add_gradient(gather.gradient, row, p, q, first, weight, &mut sums[block]);
        }
    }
}

/// Adds what the winners of an element in all channels of the cube, up to `end`, give the pixel of this unit.
#[cube]
fn add_winners<F: Float, R: Float, I: Int>(
    gather: &Gather<'_, F, R, I>,
    row: usize,
    p: u32,
    q: u32,
    end: usize,
    sums: &mut Sequence<Array<f32>>,
) {
    let winners = gather.gradient;
    let plane = gather.regions.boxes.shape(0) * winners.stride(0);
    let place = row * winners.stride(0) + p as usize * winners.stride(2) + q as usize * winners.stride(3);
    #[unroll]
    for block in 0..TOGETHER {
        let first = gather.tile.channel + block * CHANNELS;
        if first < end {
            add_winners_of_block(winners, place, plane, first, gather.tile, &mut sums[block]);
        }
    }
}
