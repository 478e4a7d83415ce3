//! The gradient of features: a unit gathers one pixel in up to 32 channels, from the gradient of an average or from the
//! winners of a maximum.

use cubecl::prelude::*;

use super::list::{Gather, gather, list_regions, region_list};
use super::maximum::add_winners_of_block;
use super::tile::{SIDE, Strides, add_gradient, groups, place_of_element, strides, sums_of_blocks, tile, write_pixel};
use super::weights::{
    REGIONS, Weights, along, elements_at, is_kept, kept_weight, look, looker_x, looker_y, region_of_unit, weight,
    weights,
};
use crate::backend::cube::launch::{Regions, UNITS};
use crate::backend::cube::unit::channels::CHANNELS;
use crate::backend::cube::unit::plan::AxisPlan;
use crate::backend::cube::unit::region::{BoxRow, read_box};
use crate::geometry::options::Reduction;
use crate::geometry::real::single::rules::{Rules, RulesExpand};

/// How many blocks of channels a cube gathers at most.
pub const TOGETHER: usize = 4;

#[cube(launch, address_type = "dynamic")]
pub fn gather_axes<F: Float, R: Float, I: Int, O: Float>(
    gradient: &Tensor<F>,
    regions: &Regions<R, I>,
    output: &mut Tensor<O>,
    plan: &AxisPlan,
    cubes: usize,
    #[comptime] blocks_of_cube: usize,
    #[define(F, R, I, O)] _dtypes: [cubecl::ir::ElemType; 4],
) {
    if CUBE_POS >= cubes {
        terminate!();
    }
    let channel_map = comptime!(plan.settings.channel_map);
    let groups = groups(gradient, channel_map);
    let tile = tile(gradient, output, groups, blocks_of_cube);
    let end = (tile.channel + blocks_of_cube * CHANNELS).min(gradient.shape(1));
    let gather = gather(gradient, regions, plan, &tile, output.shape(0));
    let mut list = region_list();
    let mut weights = weights();
    let strides = strides(gradient);
    let mut sums = sums_of_blocks(blocks_of_cube);
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
                    add_region(
                        &gather,
                        &strides,
                        &weights,
                        place - begin,
                        row,
                        end,
                        &mut sums,
                        blocks_of_cube,
                    );
                }
            }
        }
        first += UNITS;
    }
    write_pixel(output, &tile, end, tile.group, groups, &sums, blocks_of_cube);
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
    strides: &Strides,
    weights: &Weights,
    number: u32,
    row: usize,
    end: usize,
    sums: &mut Sequence<Array<f32>>,
    #[comptime] blocks: usize,
) {
    let (looker_y, looker_x) = (looker_y(number), looker_x(number));
    let (reach_y, reach_x) = (elements_at(weights, looker_y), elements_at(weights, looker_x));
    for p in reach_y.first..reach_y.end {
        let weight_y = weight_of_element(gather, weights, looker_y, reach_y.first, row, p, true);
        if weight_y > 0.0 {
            for q in reach_x.first..reach_x.end {
                let weight_x = weight_of_element(gather, weights, looker_x, reach_x.first, row, q, false);
                if weight_x > 0.0 {
                    let place = place_of_element(strides, row, p, q);
                    if comptime!(gather.plan.settings.reduction == Reduction::Average) {
                        let (first, weight) = (gather.tile.channel, weight_y * weight_x);
                        add_gradient(gather.gradient, strides, place, first, end, weight, sums, blocks);
                    } else {
                        add_winners(gather, strides, place, end, sums, blocks);
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

/// Adds what the winners of an element in all channels of the cube, up to `end`, give the pixel of this unit.
#[cube]
fn add_winners<F: Float, R: Float, I: Int>(
    gather: &Gather<'_, F, R, I>,
    strides: &Strides,
    place: usize,
    end: usize,
    sums: &mut Sequence<Array<f32>>,
    #[comptime] blocks: usize,
) {
    let (winners, tile) = (gather.gradient, gather.tile);
    let plane = gather.regions.boxes.shape(0) * strides.region;
    #[unroll]
    for block in 0..blocks {
        let first = tile.channel + block * CHANNELS;
        if first < end {
            match &gather.plan.rules {
                Rules::Samples(_, _) => {
                    add_winners_of_block(winners, strides, place, plane, first, tile, &mut sums[block], true);
                }
                _ => add_winners_of_block(winners, strides, place, plane, first, tile, &mut sums[block], false),
            }
        }
    }
}
