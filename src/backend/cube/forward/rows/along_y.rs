//! The columns of the map that a cube reduces along y.

use cubecl::prelude::*;

use super::{Pool, ROWS, Results, RowCubes, Step, UNITS, compare, no_results, place_in_kept, reduce, start};
use crate::backend::cube::plan::layout::{PlannedElement, pixel_of_tap, planned_element, weight_of_tap};
use crate::backend::cube::unit::channels::{Layout, Planes, pixel_in_planes};

/// No row of the map.
pub const NO_ROW: u32 = u32::MAX;

/// The last pixels that a unit has read in its column and channels, of an even row of the map or of an odd one. An
/// element reads up to two of the rows that the one before has read.
#[derive(CubeType)]
pub struct LastPixels {
    pub row: u32,
    pixels: Array<f32>,
}

/// None were read yet.
#[cube]
pub fn no_pixels(#[comptime] of_block: usize) -> LastPixels {
    LastPixels {
        row: NO_ROW,
        pixels: Array::<f32>::new(of_block),
    }
}

/// Reduces the column of this unit along y, for the rows of a step, and keeps the results.
#[cube]
pub fn reduce_columns<F: Float>(
    levels: &Sequence<OwnedTensor<F>>,
    pool: &Pool<'_>,
    step: &Step,
    even: &mut LastPixels,
    odd: &mut LastPixels,
    kept: &mut Shared<[u32]>,
) {
    let (block, number) = (UNIT_POS / pool.kept, UNIT_POS % pool.kept);
    let (block_of_cube, number) = (step.block + block, step.pixels + number);
    if block < pool.blocks && block_of_cube < pool.end_block && number < pool.columns {
        let mut column = pool.region.x.first + number;
        if pool.are_taps {
            column = pool.plans[pool.region.start + (pool.layout.x.taps + number) as usize];
        }
        let levels_of_call = comptime!(levels.len());
        #[unroll]
        for level in 0..levels_of_call {
            if comptime!(levels_of_call == 1) || pool.region.level == comptime!(level as u32) {
                let features = levels.index(level);
                let planes = planes(features, pool, block_of_cube, column);
                let end = (step.row + comptime!(ROWS as u32)).min(pool.layout.y.elements);
                for row in step.row..end {
                    let element = planned_element(pool.plans, pool.region.start, &pool.layout.y, row);
                    reduce_column(
                        features,
                        pool,
                        &planes,
                        column,
                        row - step.row,
                        &element,
                        even,
                        odd,
                        kept,
                    );
                }
            }
        }
    }
}

/// Where a column of the map lies in a block of channels.
#[cube]
fn planes<F: Float>(features: &Tensor<F>, pool: &Pool<'_>, block: u32, column: u32) -> Planes {
    let of_block = comptime!(pool.cubes.layout.of_block);
    // The last block ends at the last channel.
    let first = (block as usize * of_block).min(features.shape(1) - of_block);
    let of_image = pool.region.image * features.stride(0);
    Planes {
        start: of_image + first * features.stride(1) + column as usize * features.stride(3),
        step: features.stride(1),
    }
}

/// Reduces what an element reads of a column of the map, and keeps it as the result of a row.
#[cube]
fn reduce_column<F: Float>(
    features: &Tensor<F>,
    pool: &Pool<'_>,
    planes: &Planes,
    column: u32,
    row: u32,
    element: &PlannedElement,
    even: &mut LastPixels,
    odd: &mut LastPixels,
    kept: &mut Shared<[u32]>,
) {
    let layout = comptime!(pool.cubes.layout);
    let of_block = comptime!(layout.of_block);
    let finds_positions = comptime!(pool.cubes.finds_positions);
    let width = features.shape(3) as u32;
    let mut results = no_results(of_block);
    start(&mut results, pool.cubes);
    for tap in 0..element.taps {
        let pixel = pixel_of_tap(pool.plans, element, tap);
        let weight = weight_of_tap(pool.plans, element, tap);
        if pixel & 1u32 == 0u32 {
            read_pixels(features, planes, pixel, even, layout);
            take(&mut results, &even.pixels, weight, pixel * width + column, pool.cubes);
        } else {
            read_pixels(features, planes, pixel, odd, layout);
            take(&mut results, &odd.pixels, weight, pixel * width + column, pool.cubes);
        }
    }
    let place = place_in_kept(row, UNIT_POS);
    #[unroll]
    for channel in 0..of_block {
        let place = place + comptime!(channel * ROWS * UNITS);
        kept[place] = u32::reinterpret(results.values[channel]);
        if comptime!(finds_positions) {
            kept[place + comptime!(of_block * ROWS * UNITS)] = results.positions[channel];
        }
    }
}

/// Reduces pixels, or finds those that are maxima.
#[cube]
fn take(results: &mut Results, pixels: &Array<f32>, weight: f32, position: u32, cubes: &RowCubes) {
    if comptime!(cubes.finds_positions) {
        #[unroll]
        for channel in 0..comptime!(cubes.layout.of_block) {
            compare(results, pixels[channel], position, false, channel);
        }
    } else {
        reduce(results, pixels, weight, cubes);
    }
}

/// Reads the pixels of a row of the map, unless they are the last that were read.
#[cube]
fn read_pixels<F: Float>(
    features: &Tensor<F>,
    planes: &Planes,
    row: u32,
    last: &mut LastPixels,
    #[comptime] layout: Layout,
) {
    if row != last.row {
        last.row = row;
        let place = pixel_in_planes(planes, row as usize * features.stride(2), layout);
        #[unroll]
        for channel in 0..comptime!(layout.of_block) {
            last.pixels[channel] = f32::cast_from(features[place.start + channel * place.step]);
        }
    }
}
