//! The gradient of features of a maximum. The units of a cube look for the winners of some elements together, one for
//! each unit; then each adds what these give to its half of a row of the tile, in one channel.
//!
//! A cube reads the elements that reach its tile once, so an element as large as the map is read by every cube, and no
//! call takes longer than cubes times pixels. Winners are held in shared memory: nothing is kept from the forward pass.
//! So are the sums of the tile: what a winner gives belongs to two units or four, and a unit that owned a pixel of all
//! channels, to keep its sums for itself, would compare it with the winners of all channels.

use cubecl::prelude::*;

use super::Compiled;
use super::tile::{FLAGS, LIST, SIDE, Tile, UNITS, elements_reading, list_regions, places, tile, write_pixel};
use super::winner::{Place, Winner, nothing, winner_of_bin, winner_of_samples};
use crate::backend::cube::unit::{BoxRow, CHANNELS, read_box};
use crate::geometry::real::single::area::AreaRule;
use crate::geometry::real::single::rules::{Rules, RulesExpand};
use crate::geometry::real::single::samples::taps;

/// How many elements are looked at together.
const ELEMENTS: usize = UNITS / CHANNELS;

/// How many pixels of a row of the tile a unit adds to: each channel has as many units as elements.
const PIXELS: usize = SIDE * SIDE / ELEMENTS;

// WebGPU promises 16 KiB of shared memory. Winners are six arrays, of which one has a single number.
const _: () = assert!(size_of::<f32>() * (FLAGS + LIST + 1 + 5 * UNITS + CHANNELS * UNITS) <= 16 << 10);

/// The winners of a few elements, those of the first channel first. Each gives its gradient to four pixels: to the row
/// `y` and the one below it, of which the latter has the weight `fraction_y`, and likewise along x.
#[derive(CubeType)]
struct Winners {
    /// How many elements of a region are looked at: one number, since units wait for each other as often as it says,
    /// and WGSL wants to know that it is the same for all of them.
    count: Shared<[u32]>,
    y: Shared<[u32]>,
    x: Shared<[u32]>,
    fraction_y: Shared<[f32]>,
    fraction_x: Shared<[f32]>,
    /// The gradient that goes there; 0 where nothing was found.
    gradient: Shared<[f32]>,
}

#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)]
pub fn gather_maximum<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    features: &Tensor<F>,
    boxes: &Tensor<R>,
    batch_indices: &Tensor<I>,
    output: &mut Tensor<F>,
    rules: &Rules,
    areas: &AreaRule,
    start: f32,
    outside: f32,
    cubes: usize,
    #[comptime] compiled: Compiled,
    #[define(F)] _dtype: cubecl::ir::ElemType,
    #[define(R)] _box_dtype: cubecl::ir::ElemType,
    #[define(I)] _index_dtype: cubecl::ir::ElemType,
) {
    if CUBE_POS >= cubes {
        terminate!();
    }
    let tile = tile(gradient, output, places(gradient, compiled.channel_map), 1);
    let batch = output.shape(0);
    let mut flags = Shared::<[u32]>::new_slice(FLAGS);
    let mut list = Shared::<[u32]>::new_slice(LIST);
    let mut winners = Winners {
        count: Shared::<[u32]>::new_slice(1usize),
        y: Shared::<[u32]>::new_slice(UNITS),
        x: Shared::<[u32]>::new_slice(UNITS),
        fraction_y: Shared::<[f32]>::new_slice(UNITS),
        fraction_x: Shared::<[f32]>::new_slice(UNITS),
        gradient: Shared::<[f32]>::new_slice(UNITS),
    };
    // The pixels of the tile, row by row, of the first channel first.
    let mut sums = Shared::<[f32]>::new_slice(CHANNELS * UNITS);
    #[unroll]
    for pixel in 0..PIXELS {
        sums[UNIT_POS as usize * PIXELS + pixel] = 0.0;
    }
    let regions = gradient.shape(0);
    let mut first = 0usize.runtime();
    while first < regions {
        let count = list_regions(
            gradient,
            boxes,
            batch_indices,
            batch,
            rules,
            areas,
            &tile,
            first,
            &mut flags,
            &mut list,
            compiled.box_format,
            compiled.of_level,
        );
        for place in 0..count {
            let row = list[place as usize] as usize;
            let region = read_box(boxes, batch_indices, row, batch, compiled.box_format);
            add_region(
                gradient,
                features,
                rules,
                &region,
                row,
                &tile,
                start,
                outside,
                &mut winners,
                &mut sums,
                compiled,
            );
        }
        first += UNITS;
    }
    // The sums of other units are read next.
    sync_cube();
    let mut of_pixel = Array::<f32>::new(CHANNELS);
    #[unroll]
    for lane in 0..CHANNELS {
        of_pixel[lane] = sums[lane * UNITS + UNIT_POS as usize];
    }
    write_pixel(
        output,
        gradient.shape(1),
        &tile,
        tile.channel,
        &of_pixel,
        compiled.channel_map,
    );
}

/// Adds what a region gives the pixels of this unit.
#[cube]
#[allow(clippy::too_many_arguments)]
fn add_region<F: Float>(
    gradient: &Tensor<F>,
    features: &Tensor<F>,
    rules: &Rules,
    region: &BoxRow,
    row: usize,
    tile: &Tile,
    start: f32,
    outside: f32,
    winners: &mut Winners,
    sums: &mut Shared<[f32]>,
    #[comptime] compiled: Compiled,
) {
    let (rows, columns) = (gradient.shape(2) as u32, gradient.shape(3) as u32);
    let side = comptime!(SIDE as u32 - 1);
    let elements = elements_reading(
        rules,
        region,
        tile.first_y,
        (tile.first_y + side).min(tile.height - 1u32),
        tile.first_x,
        (tile.first_x + side).min(tile.width - 1u32),
        rows,
        columns,
    );
    let across = elements.columns.end - elements.columns.first;
    let unit = UNIT_POS as usize;
    if unit == 0 {
        winners.count[0] = (elements.rows.end - elements.rows.first) * across;
    }
    // Above 0, since the region reaches the tile: so units wait below before the next region's number is written.
    let count = workgroup_uniform_load(&winners.count[0]);
    let last = gradient.shape(1) - 1;
    let channel = (tile.channel + unit / ELEMENTS).min(last);
    let of_unit = (unit % ELEMENTS) as u32;
    let mut first = 0u32;
    while first < count {
        let element = first + of_unit;
        let mut found = 0.0f32;
        if element < count {
            let p = elements.rows.first + element / across;
            let q = elements.columns.first + element % across;
            let place = Place {
                row: p,
                column: q,
                rows,
                columns,
                plane: region.image * features.stride(0) + channel * features.stride(1),
            };
            let winner = winner(features, rules, region, &place, start, outside, compiled);
            if winner.found {
                write_pixels(winners, rules, &winner, tile);
                let of_element = row * gradient.stride(0)
                    + channel * gradient.stride(1)
                    + p as usize * gradient.stride(2)
                    + q as usize * gradient.stride(3);
                found = winner.weight * f32::cast_from(gradient[of_element]);
            }
        }
        winners.gradient[unit] = found;
        sync_cube();
        add_winners(tile, (count - first).min(comptime!(ELEMENTS as u32)), winners, sums);
        // The winners are overwritten next.
        sync_cube();
        first += comptime!(ELEMENTS as u32);
    }
}

#[cube]
fn winner<F: Float>(
    features: &Tensor<F>,
    rules: &Rules,
    region: &BoxRow,
    place: &Place,
    start: f32,
    outside: f32,
    #[comptime] compiled: Compiled,
) -> Winner {
    match rules {
        Rules::Samples(y, x) => winner_of_samples(features, y, x, region, place, start, outside, compiled.reduction),
        Rules::Bins(y, x) => winner_of_bin(features, y, x, region, place, start),
        // An integral has no maximum.
        Rules::Integrals(_, _) => nothing(),
    }
}

/// Writes down which pixels this unit's winner was read from.
#[cube]
fn write_pixels(winners: &mut Winners, rules: &Rules, winner: &Winner, tile: &Tile) {
    let unit = UNIT_POS as usize;
    match rules {
        Rules::Samples(y, x) => {
            let (taps_y, taps_x) = (taps(y, winner.y, tile.height), taps(x, winner.x, tile.width));
            winners.y[unit] = taps_y.low;
            winners.x[unit] = taps_x.low;
            winners.fraction_y[unit] = taps_y.fraction;
            winners.fraction_x[unit] = taps_x.fraction;
        }
        Rules::Bins(_, _) => {
            winners.y[unit] = winner.y as u32;
            winners.x[unit] = winner.x as u32;
            winners.fraction_y[unit] = 0.0;
            winners.fraction_x[unit] = 0.0;
        }
        Rules::Integrals(_, _) => {}
    }
}

/// Adds what the winners of elements give the pixels of this unit, element after element.
#[cube]
fn add_winners(tile: &Tile, elements: u32, winners: &mut Winners, sums: &mut Shared<[f32]>) {
    let unit = UNIT_POS as usize;
    let of_channel = unit - unit % ELEMENTS;
    let y = tile.first_y + (unit % ELEMENTS * PIXELS / SIDE) as u32;
    let x = tile.first_x + (unit * PIXELS % SIDE) as u32;
    for element in 0..elements as usize {
        let winner = of_channel + element;
        let gradient = winners.gradient[winner];
        if gradient != 0.0 {
            let weight_y = weight_of_pixel(winners.y[winner], winners.fraction_y[winner], y);
            if weight_y > 0.0 {
                let left = winners.x[winner];
                let fraction = winners.fraction_x[winner];
                add_pixel(left, x, weight_y * (1.0 - fraction), gradient, sums);
                add_pixel(left + 1u32, x, weight_y * fraction, gradient, sums);
            }
        }
    }
}

/// The weight of a row in a sample. Where the row below would be beyond the map its weight is 0.
#[cube]
fn weight_of_pixel(low: u32, fraction: f32, pixel: u32) -> f32 {
    let mut weight = 0.0f32;
    if low == pixel {
        weight = 1.0 - fraction;
    }
    if low + 1u32 == pixel {
        weight = fraction;
    }
    weight
}

/// Adds a gradient to a pixel of the row, if it is one of this unit's, which begin at `first`.
#[cube]
fn add_pixel(pixel: u32, first: u32, weight: f32, gradient: f32, sums: &mut Shared<[f32]>) {
    if pixel >= first && pixel < first + comptime!(PIXELS as u32) && weight > 0.0 {
        sums[UNIT_POS as usize * PIXELS + (pixel - first) as usize] += weight * gradient;
    }
}
