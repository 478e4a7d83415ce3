//! The gradient of features of operators whose elements read points: a unit gathers one pixel in up to 32 channels.

use cubecl::prelude::*;

use super::list::{list_flagged, region_list};
use super::tile::{SIDE, Strides, Tile, add_gradient, place_of_element, strides, sums_of_blocks, tile, write_pixel};
use crate::backend::cube::launch::{Regions, UNITS};
use crate::backend::cube::unit::channels::CHANNELS;
use crate::backend::cube::unit::plan::{Channels, PointPlan};
use crate::backend::cube::unit::point_region::{
    CallSizes, ElementReach, PointRegion, reach_of_element, reach_on_map, read_region, samples_in_bounds,
};
use crate::geometry::real::single::points::{
    PointAxis, PointRule, place, places_of_pixels, reads, samples_between, turned,
};
use crate::geometry::real::single::samples::{Taps, bilinear_taps};

/// The most blocks of channels that a cube gathers. All of them have the same samples, and finding these takes long.
pub const TOGETHER: usize = 8;

#[cube(launch, address_type = "dynamic")]
pub fn gather_points<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    regions: &Regions<R, I>,
    output: &mut Tensor<F>,
    plan: &PointPlan,
    groups: usize,
    cubes: usize,
    #[comptime] blocks_of_cube: usize,
    #[define(F, R, I)] _dtypes: [cubecl::ir::ElemType; 3],
) {
    if CUBE_POS >= cubes {
        terminate!();
    }
    let channels = comptime!(plan.settings.channels);
    let tile = tile(gradient, output, groups, blocks_of_cube);
    let end = (tile.channel + blocks_of_cube * CHANNELS).min(gradient.shape(1));
    let strides = strides(gradient);
    let sizes = CallSizes {
        images: output.shape(0),
        rows: gradient.shape(2) as u32,
        columns: gradient.shape(3) as u32,
        height: tile.height,
        width: tile.width,
    };
    let mut list = region_list();
    let mut sums = sums_of_blocks(blocks_of_cube);
    let regions_of_call = gradient.shape(0);
    let mut first = 0usize.runtime();
    while first < regions_of_call {
        let row = first + UNIT_POS as usize;
        let mut flag = 0u32;
        if row < regions_of_call {
            let region = read_region(regions, row, plan, &sizes);
            if region.pooled && region.image == tile.image && reaches(regions, &plan.rule, &region, &tile) {
                flag = 1u32;
            }
        }
        let count = list_flagged(flag, row, &mut list);
        if tile.on_map {
            for number in 0..count {
                let row = list.rows[number as usize] as usize;
                let region = read_region(regions, row, plan, &sizes);
                add_region(
                    gradient,
                    &strides,
                    regions,
                    &plan.rule,
                    &region,
                    &tile,
                    end,
                    &mut sums,
                    channels,
                    blocks_of_cube,
                );
            }
        }
        first += UNITS;
    }
    let mut first_channel = tile.group;
    let mut step = groups;
    if comptime!(channels == Channels::OfSamples) {
        first_channel = tile.group * gradient.shape(1);
        step = 1usize.runtime();
    }
    write_pixel(output, &tile, end, first_channel, step, false, &sums, blocks_of_cube);
}

/// Whether some element of a region may read a pixel of the tile.
#[cube]
fn reaches<R: Float, I: Int>(regions: &Regions<R, I>, rule: &PointRule, region: &PointRegion, tile: &Tile) -> bool {
    let side = comptime!(SIDE as u32 - 1);
    let last_y = (tile.first_y + side).min(tile.height - 1u32);
    let last_x = (tile.first_x + side).min(tile.width - 1u32);
    let places = places_of_pixels(rule, &region.turn, tile.first_y, last_y, tile.first_x, last_x);
    let mut found = false;
    if rule.parts_y == 0u32 {
        // Without offsets, rows and columns of elements are tested by themselves: P + Q tests instead of P times Q.
        let mut found_y = false;
        for p in 0..region.y.elements {
            found_y = found_y || reaches_along(rule, &region.y, p, places.low_y, places.high_y);
        }
        let mut found_x = false;
        for q in 0..region.x.elements {
            found_x = found_x || reaches_along(rule, &region.x, q, places.low_x, places.high_x);
        }
        found = found_y && found_x;
    } else {
        for p in 0..region.y.elements {
            for q in 0..region.x.elements {
                let reach = reach_of_element(regions, rule, region, &places, p, q);
                found = found || (reach.y.first < reach.y.end && reach.x.first < reach.x.end);
            }
        }
    }
    found
}

/// Whether samples of an element without an offset may lie between two places.
#[cube]
fn reaches_along(rule: &PointRule, axis: &PointAxis, element: u32, low: f32, high: f32) -> bool {
    let reach = samples_between(rule, axis, element, 0.0, low, high);
    reach.first < reach.end
}

/// Adds what a region gives the pixel of this unit.
#[cube]
fn add_region<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    strides: &Strides,
    regions: &Regions<R, I>,
    rule: &PointRule,
    region: &PointRegion,
    tile: &Tile,
    end: usize,
    sums: &mut Sequence<Array<f32>>,
    #[comptime] channels: Channels,
    #[comptime] blocks: usize,
) {
    let places = places_of_pixels(rule, &region.turn, tile.y, tile.y, tile.x, tile.x);
    let mut first_p = 0u32;
    let mut end_p = region.y.elements;
    let mut first_q = 0u32;
    let mut end_q = region.x.elements;
    if comptime!(channels == Channels::OfElements) {
        first_p = tile.group as u32 / end_q;
        first_q = tile.group as u32 % end_q;
        end_p = first_p + 1u32;
        end_q = first_q + 1u32;
    }
    let moves = rule.parts_y > 0u32;
    for p in first_p..end_p {
        // Without offsets, whether a row or a column of elements reaches the pixel is tested by itself.
        if moves || reaches_along(rule, &region.y, p, places.low_y, places.high_y) {
            for q in first_q..end_q {
                if moves || reaches_along(rule, &region.x, q, places.low_x, places.high_x) {
                    let reach = reach_of_element(regions, rule, region, &places, p, q);
                    let weight = weight_of_pixel(rule, region, &reach, tile, p, q, channels);
                    if weight != 0.0 {
                        let mut samples = region.y.samples as f32 * region.x.samples as f32;
                        if rule.ignores_out_of_bounds == 1u32 {
                            let on_map = reach_on_map(regions, rule, region, p, q);
                            samples = samples_in_bounds(rule, region, &on_map, p, q);
                        }
                        let share = weight / samples;
                        let place = place_of_element(strides, region.row, p, q);
                        add_gradient(gradient, strides, place, tile.channel, end, share, sums, blocks);
                    }
                }
            }
        }
    }
}

/// The sum of the weights of this unit's pixel in the samples of an element.
#[cube]
fn weight_of_pixel(
    rule: &PointRule,
    region: &PointRegion,
    reach: &ElementReach,
    tile: &Tile,
    p: u32,
    q: u32,
    #[comptime] channels: Channels,
) -> f32 {
    let mut weight = 0.0f32;
    for sample_y in reach.y.first..reach.y.end {
        let y = place(rule, &region.y, p, sample_y, reach.offset.shift_y);
        for sample_x in reach.x.first..reach.x.end {
            let x = place(rule, &region.x, q, sample_x, reach.offset.shift_x);
            let point = turned(rule, &region.turn, y, x);
            let mut counts = reads(rule, &point, tile.height, tile.width);
            if comptime!(channels == Channels::OfSamples) {
                counts = counts && sample_y * region.x.samples + sample_x == tile.group as u32;
            }
            if counts {
                let along_y = weight_of_taps(&bilinear_taps(point.y, tile.height), tile.y);
                let along_x = weight_of_taps(&bilinear_taps(point.x, tile.width), tile.x);
                weight += along_y * along_x;
            }
        }
    }
    weight
}

/// The weight of a pixel in a sample, along one axis.
#[cube]
fn weight_of_taps(taps: &Taps, pixel: u32) -> f32 {
    let mut weight = 0.0f32;
    if taps.low == pixel {
        weight += 1.0 - taps.fraction;
    }
    if taps.high == pixel {
        weight += taps.fraction;
    }
    weight
}
