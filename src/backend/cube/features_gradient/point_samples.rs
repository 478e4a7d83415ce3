//! The samples of a region's elements that may read a tile, in shared memory. Each unit looks at one element, then at
//! one sample of any of them.

use cubecl::prelude::*;

use super::tile::{BEYOND, SIDE, Tile, UNITS, own_column};
use crate::backend::cube::unit::plan::Channels;
use crate::backend::cube::unit::point_region::{
    PointRegion, offset_of_element, reach_of_element, reach_on_map, samples_in_bounds,
};
use crate::geometry::real::single::points::{place, places_of_pixels, reads, turned};
use crate::geometry::real::single::samples::bilinear_taps;

/// How many samples of an element are counted at most, so that the samples of all elements are counted in 32 bits. As
/// many on one tile would take longer than drivers let a kernel run.
const MOST: u32 = 1 << 26;

/// The elements that were looked at: the first of their samples that may read the tile, how many columns of samples
/// these have, how many they are, and how many they and those of the elements before them are.
#[derive(CubeType)]
pub struct Elements {
    first_y: Shared<[u32]>,
    first_x: Shared<[u32]>,
    across: Shared<[u32]>,
    count: Shared<[u32]>,
    end: Shared<[u32]>,
    /// The part of a sample in the mean of its element.
    share: Shared<[f32]>,
}

/// The samples that were looked at.
#[derive(CubeType)]
pub struct Samples {
    /// Their elements, by row and column.
    p: Shared<[u32]>,
    q: Shared<[u32]>,
    /// The rows and columns of the tile that they read, a byte each: lower and higher row, lower and higher column.
    pixels: Shared<[u32]>,
    /// The weights of both rows, with the share of the sample, and of the higher column.
    upper: Shared<[f32]>,
    lower: Shared<[f32]>,
    right: Shared<[f32]>,
}

#[cube]
pub fn elements() -> Elements {
    Elements {
        first_y: Shared::<[u32]>::new_slice(UNITS),
        first_x: Shared::<[u32]>::new_slice(UNITS),
        across: Shared::<[u32]>::new_slice(UNITS),
        count: Shared::<[u32]>::new_slice(UNITS),
        end: Shared::<[u32]>::new_slice(UNITS),
        share: Shared::<[f32]>::new_slice(UNITS),
    }
}

#[cube]
pub fn samples() -> Samples {
    Samples {
        p: Shared::<[u32]>::new_slice(UNITS),
        q: Shared::<[u32]>::new_slice(UNITS),
        pixels: Shared::<[u32]>::new_slice(UNITS),
        upper: Shared::<[f32]>::new_slice(UNITS),
        lower: Shared::<[f32]>::new_slice(UNITS),
        right: Shared::<[f32]>::new_slice(UNITS),
    }
}

/// Looks at the elements of a region from `first` on, of those before `end`, and returns how many samples of them may
/// read the tile.
#[cube]
pub fn look_at_elements<R: Float, I: Int>(
    elements: &mut Elements,
    region: &PointRegion<'_, R, I>,
    tile: &Tile,
    first: u32,
    end: u32,
) -> u32 {
    let unit = UNIT_POS as usize;
    let element = first + UNIT_POS;
    let mut count = 0u32;
    // What was looked at before has been read by now.
    sync_cube();
    if element < end {
        let rule = &region.plan.rule;
        let (p, q) = (element / region.x.elements, element % region.x.elements);
        let (y, x) = (tile.place.y, tile.place.x);
        let last = comptime!(SIDE as u32 - 1);
        let places = places_of_pixels(rule, &region.turn, y, y + last, x, x + last);
        let reach = reach_of_element(region, &places, p, q);
        let across = reach.x.end - reach.x.first;
        elements.first_y[unit] = reach.y.first;
        elements.first_x[unit] = reach.x.first;
        elements.across[unit] = across;
        if across > 0u32 {
            count = across * (reach.y.end - reach.y.first).min(comptime!(MOST) / across);
        }
        let mut samples = region.y.samples as f32 * region.x.samples as f32;
        if count > 0u32 && rule.ignores_out_of_bounds == 1u32 {
            let on_map = reach_on_map(region, p, q);
            samples = samples_in_bounds(region, &on_map, p, q);
        }
        elements.share[unit] = 1.0 / samples;
    }
    elements.count[unit] = count;
    sync_cube();
    let mut sum = 0u32;
    for other in 0..UNIT_POS + 1 {
        sum += elements.count[other as usize];
    }
    elements.end[unit] = sum;
    workgroup_uniform_load(&elements.end[UNITS - 1])
}

/// Looks at a sample of the elements from `first` on: at the sample of this number among those that may read the tile.
#[cube]
pub fn look_at_sample<R: Float, I: Int>(
    samples: &mut Samples,
    elements: &Elements,
    region: &PointRegion<'_, R, I>,
    tile: &Tile,
    first: u32,
    number: u32,
) {
    let unit = UNIT_POS as usize;
    let rule = &region.plan.rule;
    let of = element_of(elements, number);
    let element = first + of as u32;
    let (p, q) = (element / region.x.elements, element % region.x.elements);
    let before = elements.end[of] - elements.count[of];
    let across = elements.across[of].max(1u32);
    let y = elements.first_y[of] + (number - before) / across;
    let x = elements.first_x[of] + (number - before) % across;
    let offset = offset_of_element(region, p, q);
    let place_y = place(rule, &region.y, p, y, offset.shift_y);
    let place_x = place(rule, &region.x, q, x, offset.shift_x);
    let point = turned(rule, &region.turn, place_y, place_x);
    let mut counts = reads(rule, &point, region.y.size, region.x.size);
    if comptime!(region.plan.settings.channels == Channels::OfSamples) {
        counts = counts && y * region.x.samples + x == tile.group as u32;
    }
    let y = bilinear_taps(point.y, region.y.size);
    let x = bilinear_taps(point.x, region.x.size);
    let share = elements.share[of];
    samples.p[unit] = p;
    samples.q[unit] = q;
    samples.upper[unit] = share * (1.0 - y.fraction);
    samples.lower[unit] = share * y.fraction;
    samples.right[unit] = x.fraction;
    let top = in_tile(y.low, tile.place.y, counts);
    let bottom = in_tile(y.high, tile.place.y, counts && y.fraction > 0.0);
    let left = in_tile(x.low, tile.place.x, true);
    let right = in_tile(x.high, tile.place.x, x.fraction > 0.0);
    samples.pixels[unit] = top | (bottom << 8u32) | (left << 16u32) | (right << 24u32);
}

/// The element whose sample has this number: that of the first end above it.
#[cube]
fn element_of(elements: &Elements, number: u32) -> usize {
    let mut of = 0usize;
    let mut step = comptime!(UNITS / 2).runtime();
    while step > 0usize {
        if elements.end[of + step - 1] <= number {
            of += step;
        }
        step /= 2usize;
    }
    of
}

/// A pixel that is read as one of the tile, and [`BEYOND`] otherwise.
#[cube]
fn in_tile(pixel: u32, first: u32, is_read: bool) -> u32 {
    // Pixels before the first have huge numbers in a u32.
    select(is_read, (pixel - first).min(comptime!(BEYOND)), comptime!(BEYOND))
}

/// A sample that reads the tile, as the units add it.
#[derive(CubeType)]
pub struct Sample {
    pub p: u32,
    pub q: u32,
    pub top: u32,
    pub bottom: u32,
    pub left: u32,
    pub right: u32,
    pub upper: f32,
    pub lower: f32,
    pub right_part: f32,
    /// Whether it reads a pixel of the tile.
    pub is_read: bool,
}

#[cube]
pub fn sample(samples: &Samples, number: u32, tile: &Tile) -> Sample {
    let number = number as usize;
    let pixels = samples.pixels[number];
    let (top, bottom) = (pixels & 255u32, (pixels >> 8u32) & 255u32);
    let (left, right) = ((pixels >> 16u32) & 255u32, pixels >> 24u32);
    let beyond = comptime!(BEYOND);
    Sample {
        p: samples.p[number],
        q: samples.q[number],
        top,
        bottom,
        left: own_column(tile, left),
        right: own_column(tile, right),
        upper: samples.upper[number],
        lower: samples.lower[number],
        right_part: samples.right[number],
        is_read: top.min(bottom) < beyond && left.min(right) < beyond,
    }
}
