//! The gradient of features of operators whose elements read points: a unit gathers one pixel in a few channels.

use cubecl::prelude::*;

use super::list::{list_flagged, region_list};
use super::tile::{SIDE, Tile, add_gradient, tile};
use crate::backend::cube::launch::{Regions, UNITS};
use crate::backend::cube::unit::channels::CHANNELS;
use crate::backend::cube::unit::plan::{Channels, PointPlan};
use crate::backend::cube::unit::point_region::{CallSizes, PointRegion, offset_is_finite, read_offset, read_region};
use crate::geometry::real::single::between::Reach;
use crate::geometry::real::single::points::{
    Places, PointRule, place, places_of_pixels, reads, samples_between, turned,
};
use crate::geometry::real::single::samples::{Taps, bilinear_taps};

#[cube(launch, address_type = "dynamic")]
pub fn gather_points<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    regions: &Regions<R, I>,
    output: &mut Tensor<F>,
    plan: &PointPlan,
    groups: usize,
    cubes: usize,
    #[define(F, R, I)] _dtypes: [cubecl::ir::ElemType; 3],
) {
    if CUBE_POS >= cubes {
        terminate!();
    }
    let channels = comptime!(plan.settings.channels);
    let tile = tile(gradient, output, groups, 1);
    let sizes = CallSizes {
        images: output.shape(0),
        rows: gradient.shape(2) as u32,
        columns: gradient.shape(3) as u32,
        height: tile.height,
        width: tile.width,
    };
    let mut list = region_list();
    let mut sums = Array::<f32>::new(CHANNELS);
    #[unroll]
    for lane in 0..CHANNELS {
        sums[lane] = 0.0;
    }
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
                add_region(gradient, regions, &plan.rule, &region, &tile, &mut sums, channels);
            }
        }
        first += UNITS;
    }
    write(output, gradient.shape(1), groups, &tile, &sums, channels);
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
            let reach = samples_between(rule, &region.y, p, 0.0, places.low_y, places.high_y);
            found_y = found_y || reach.first < reach.end;
        }
        let mut found_x = false;
        for q in 0..region.x.elements {
            let reach = samples_between(rule, &region.x, q, 0.0, places.low_x, places.high_x);
            found_x = found_x || reach.first < reach.end;
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

/// The samples of an element that may read some pixels, and by how much its offset moves them.
#[derive(CubeType)]
struct ElementReach {
    y: Reach,
    x: Reach,
    shift_y: f32,
    shift_x: f32,
}

#[cube]
fn reach_of_element<R: Float, I: Int>(
    regions: &Regions<R, I>,
    rule: &PointRule,
    region: &PointRegion,
    places: &Places,
    p: u32,
    q: u32,
) -> ElementReach {
    let offset = read_offset(regions, rule, region, p, q);
    let mut y = samples_between(rule, &region.y, p, offset.shift_y, places.low_y, places.high_y);
    let x = samples_between(rule, &region.x, q, offset.shift_x, places.low_x, places.high_x);
    if !offset_is_finite(&offset) {
        y.end = y.first;
    }
    ElementReach {
        y,
        x,
        shift_y: offset.shift_y,
        shift_x: offset.shift_x,
    }
}

/// Adds what a region gives the pixel of this unit.
#[cube]
fn add_region<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    regions: &Regions<R, I>,
    rule: &PointRule,
    region: &PointRegion,
    tile: &Tile,
    sums: &mut Array<f32>,
    #[comptime] channels: Channels,
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
    for p in first_p..end_p {
        for q in first_q..end_q {
            let reach = reach_of_element(regions, rule, region, &places, p, q);
            let weight = weight_of_pixel(rule, region, &reach, tile, p, q, channels);
            if weight != 0.0 {
                add_gradient(gradient, region.row, p, q, tile.channel, weight, sums);
            }
        }
    }
}

/// The weight of this unit's pixel in an element.
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
        let y = place(rule, &region.y, p, sample_y, reach.shift_y);
        for sample_x in reach.x.first..reach.x.end {
            let x = place(rule, &region.x, q, sample_x, reach.shift_x);
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
    if weight != 0.0 {
        let mut samples = region.y.samples as f32 * region.x.samples as f32;
        if rule.ignores_out_of_bounds == 1u32 {
            samples = count_in_bounds(rule, region, reach, p, q);
        }
        weight /= samples;
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

/// How many samples of an element read the map.
#[cube]
fn count_in_bounds(rule: &PointRule, region: &PointRegion, reach: &ElementReach, p: u32, q: u32) -> f32 {
    let mut count = 0u32;
    for sample_y in 0..region.y.samples {
        let y = place(rule, &region.y, p, sample_y, reach.shift_y);
        for sample_x in 0..region.x.samples {
            let x = place(rule, &region.x, q, sample_x, reach.shift_x);
            let point = turned(rule, &region.turn, y, x);
            if reads(rule, &point, region.y.size, region.x.size) {
                count += 1u32;
            }
        }
    }
    count as f32
}

/// Writes the sums of a unit's pixel.
#[cube]
fn write<F: Float>(
    output: &mut Tensor<F>,
    channels: usize,
    groups: usize,
    tile: &Tile,
    sums: &Array<f32>,
    #[comptime] of_channels: Channels,
) {
    if tile.on_map {
        let pixel =
            tile.image * output.stride(0) + tile.y as usize * output.stride(2) + tile.x as usize * output.stride(3);
        let of_channel = output.stride(1);
        #[unroll]
        for lane in 0..CHANNELS {
            let channel = tile.channel + lane;
            if channel < channels {
                let mut input = channel * groups + tile.group;
                if comptime!(of_channels == Channels::OfSamples) {
                    input = tile.group * channels + channel;
                }
                output[pixel + input * of_channel] = F::cast_from(sums[lane]);
            }
        }
    }
}
