//! The gradient of features of a maximum. The units of a cube look for the winners of some elements together, one for
//! each unit; then each adds what these give to its half of a row of the tile, in one channel.
//!
//! A cube reads the elements that reach its tile once, so an element as large as the map is read by every cube, and no
//! call takes longer than cubes times pixels. Winners are held in shared memory: nothing is kept from the forward pass.
//! So are the sums of the tile: what a winner gives belongs to two units or four, and a unit that owned a pixel of all
//! channels, to keep its sums for itself, would compare it with the winners of all channels.

use cubecl::prelude::*;

use super::list::{FLAGS, Gather, ROWS, elements_reading, gather, list_regions, region_list};
use super::tile::{SIDE, Tile, groups, tile, write_pixel};
use crate::backend::cube::launch::{Regions, UNITS};
use crate::backend::cube::unit::channels::CHANNELS;
use crate::backend::cube::unit::plan::ReductionPlan;
use crate::backend::cube::unit::region::read_box;
use crate::backend::cube::unit::winner::{
    ChannelElement, Winner, channel_element, no_winner, winner_of_bin, winner_of_samples,
};
use crate::geometry::real::single::rules::{Rules, RulesExpand};
use crate::geometry::real::single::samples::taps;

/// How many elements are looked at together.
const ELEMENTS: usize = UNITS / CHANNELS;

/// How many pixels of a row of the tile a unit adds to: each channel has as many units as elements.
const PIXELS: usize = SIDE * SIDE / ELEMENTS;

// WebGPU promises 16 KiB of shared memory. Winners are six arrays, of which one has a single element.
const _: () = assert!(size_of::<f32>() * (FLAGS + ROWS + 1 + 5 * UNITS + CHANNELS * UNITS) <= 16 << 10);

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
pub fn gather_maximum<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    features: &Tensor<F>,
    regions: &Regions<R, I>,
    output: &mut Tensor<F>,
    plan: &ReductionPlan,
    cubes: usize,
    #[define(F, R, I)] _dtypes: [cubecl::ir::ElemType; 3],
) {
    if CUBE_POS >= cubes {
        terminate!();
    }
    let settings = comptime!(plan.axes.settings);
    let tile = tile(gradient, output, groups(gradient, settings.channel_map), 1);
    let gather = gather(gradient, regions, &plan.axes, &tile, output.shape(0));
    let mut list = region_list();
    let mut winners = winners();
    // The pixels of the tile, row by row, of the first channel first.
    let mut sums = Shared::<[f32]>::new_slice(CHANNELS * UNITS);
    #[unroll]
    for pixel in 0..PIXELS {
        sums[UNIT_POS as usize * PIXELS + pixel] = 0.0;
    }
    let regions_of_call = gradient.shape(0);
    let mut first = 0usize.runtime();
    while first < regions_of_call {
        let count = list_regions(&gather, first, &mut list);
        for place in 0..count {
            let row = list.rows[place as usize] as usize;
            add_region(&gather, features, plan, row, &mut winners, &mut sums);
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
        settings.channel_map,
    );
}

#[cube]
fn winners() -> Winners {
    Winners {
        count: Shared::<[u32]>::new_slice(1usize),
        y: Shared::<[u32]>::new_slice(UNITS),
        x: Shared::<[u32]>::new_slice(UNITS),
        fraction_y: Shared::<[f32]>::new_slice(UNITS),
        fraction_x: Shared::<[f32]>::new_slice(UNITS),
        gradient: Shared::<[f32]>::new_slice(UNITS),
    }
}

/// Adds what a region gives the pixels of this unit.
#[cube]
fn add_region<F: Float, R: Float, I: Int>(
    gather: &Gather<'_, F, R, I>,
    features: &Tensor<F>,
    plan: &ReductionPlan,
    row: usize,
    winners: &mut Winners,
    sums: &mut Shared<[f32]>,
) {
    let (gradient, tile) = (gather.gradient, gather.tile);
    let region = read_box(
        gather.regions,
        row,
        gather.images,
        comptime!(plan.axes.settings.box_format),
    );
    let (rows, columns) = (gradient.shape(2) as u32, gradient.shape(3) as u32);
    let elements = elements_reading(&plan.axes.rules, &region, tile, rows, columns);
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
            let plane = region.image * features.stride(0) + channel * features.stride(1);
            let place = channel_element(&region, p, q, rows, columns, plane);
            let winner = winner(features, &place, plan);
            if winner.found {
                write_pixels(winners, &plan.axes.rules, &winner, tile);
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
fn winner<F: Float>(features: &Tensor<F>, element: &ChannelElement<'_>, plan: &ReductionPlan) -> Winner {
    match &plan.axes.rules {
        Rules::Samples(y, x) => winner_of_samples(features, y, x, element, plan),
        Rules::Bins(y, x) => winner_of_bin(features, y, x, element, plan.start),
        // An integral has no maximum.
        Rules::Integrals(_, _) => no_winner(plan.start),
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
            let weight_y = weight_of_row(winners.y[winner], winners.fraction_y[winner], y);
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
fn weight_of_row(low: u32, fraction: f32, pixel: u32) -> f32 {
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
