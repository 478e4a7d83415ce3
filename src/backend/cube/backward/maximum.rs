//! The gradient of features of a maximum. The units of a cube look for the winners of some elements together, one for
//! each unit; then each gathers what these give its pixel.
//!
//! A cube reads the elements that reach its tile once, so an element as large as the map is read by every cube, and no
//! call takes longer than cubes times pixels. Winners are held in shared memory: nothing is kept from the forward pass.

use cubecl::prelude::*;

use super::Compiled;
use super::tile::{FLAGS, SIDE, Tile, UNITS, elements_reading, list_regions, places, tile, write_pixel};
use super::winner::{Place, Winner, nothing, winner_of_bin, winner_of_samples};
use crate::backend::cube::unit::{BoxRow, CHANNELS, read_box};
use crate::geometry::real::single::area::AreaRule;
use crate::geometry::real::single::make::{Rules, RulesExpand};
use crate::geometry::real::single::samples::{Taps, taps};

/// How many elements are looked at together.
const ELEMENTS: usize = UNITS / CHANNELS;

/// The winners of a few elements, one after another for each channel.
#[derive(CubeType)]
struct Winners {
    /// How many elements of a region are looked at: one number, since units wait for each other as often as it says,
    /// and WGSL wants to know that it is the same for all of them.
    count: Shared<[u32]>,
    y: Shared<[f32]>,
    x: Shared<[f32]>,
    /// The gradient that goes there; 0 where nothing was found.
    gradient: Shared<[f32]>,
}

#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)]
pub fn gather_maximum<F: Float, I: Int>(
    gradient: &Tensor<F>,
    features: &Tensor<F>,
    boxes: &Tensor<F>,
    batch_indices: &Tensor<I>,
    output: &mut Tensor<F>,
    rules: &Rules,
    areas: &AreaRule,
    start: f32,
    outside: f32,
    cubes: usize,
    #[comptime] compiled: Compiled,
    #[define(F)] _dtype: cubecl::ir::ElemType,
    #[define(I)] _index_dtype: cubecl::ir::ElemType,
) {
    if CUBE_POS >= cubes {
        terminate!();
    }
    let tile = tile(gradient, output, places(gradient, compiled.channel_map), 1);
    let batch = output.shape(0);
    let mut flags = Shared::<[u32]>::new_slice(FLAGS);
    let mut list = Shared::<[u32]>::new_slice(UNITS + 1);
    let mut winners = Winners {
        count: Shared::<[u32]>::new_slice(1usize),
        y: Shared::<[f32]>::new_slice(UNITS),
        x: Shared::<[f32]>::new_slice(UNITS),
        gradient: Shared::<[f32]>::new_slice(UNITS),
    };
    let mut sums = Array::<f32>::new(CHANNELS);
    #[unroll]
    for lane in 0..CHANNELS {
        sums[lane] = 0.0;
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
    write_pixel(
        output,
        gradient.shape(1),
        &tile,
        tile.channel,
        &sums,
        compiled.channel_map,
    );
}

/// Adds what a region gives the pixel of this unit.
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
    sums: &mut Array<f32>,
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
    let channel = (tile.channel + unit % CHANNELS).min(last);
    let of_unit = (unit / CHANNELS) as u32;
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
            winners.y[unit] = winner.y;
            winners.x[unit] = winner.x;
            if winner.found {
                let of_element = row * gradient.stride(0)
                    + channel * gradient.stride(1)
                    + p as usize * gradient.stride(2)
                    + q as usize * gradient.stride(3);
                found = winner.weight * f32::cast_from(gradient[of_element]);
            }
        }
        winners.gradient[unit] = found;
        sync_cube();
        add_winners(
            rules,
            tile,
            (count - first).min(comptime!(ELEMENTS as u32)),
            winners,
            sums,
        );
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

/// Adds what the winners of elements give the pixel of this unit.
#[cube]
fn add_winners(rules: &Rules, tile: &Tile, elements: u32, winners: &mut Winners, sums: &mut Array<f32>) {
    for element in 0..elements {
        #[unroll]
        for lane in 0..CHANNELS {
            let winner = element as usize * CHANNELS + lane;
            let gradient = winners.gradient[winner];
            if gradient != 0.0 {
                let weight = weight_at(rules, true, winners.y[winner], tile.y, tile.height)
                    * weight_at(rules, false, winners.x[winner], tile.x, tile.width);
                if weight > 0.0 {
                    sums[lane] += weight * gradient;
                }
            }
        }
    }
}

/// The weight of a pixel in what is read at a position along one axis.
#[cube]
fn weight_at(rules: &Rules, #[comptime] along_y: bool, position: f32, pixel: u32, size: u32) -> f32 {
    match rules {
        Rules::Samples(y, x) => {
            if comptime!(along_y) {
                weight_of_pixel(&taps(y, position, size), pixel)
            } else {
                weight_of_pixel(&taps(x, position, size), pixel)
            }
        }
        Rules::Bins(_, _) => {
            let mut weight = 0.0f32;
            if position as u32 == pixel {
                weight = 1.0;
            }
            weight
        }
        Rules::Integrals(_, _) => 0.0f32.runtime(),
    }
}

/// The weight of a pixel in a sample.
#[cube]
fn weight_of_pixel(taps: &Taps, pixel: u32) -> f32 {
    let mut weight = 0.0f32;
    if taps.low == pixel {
        weight += 1.0 - taps.fraction;
    }
    if taps.high == pixel {
        weight += taps.fraction;
    }
    weight
}
