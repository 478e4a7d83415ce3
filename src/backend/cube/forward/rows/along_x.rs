//! The elements that a cube reduces along x, from the columns that it keeps.

use cubecl::prelude::*;

use super::{NOWHERE, Pool, ROWS, Results, Step, UNITS, compare, place_in_kept, reduce, start};
use crate::backend::cube::plan::layout::{PlannedElement, pixel_of_tap, planned_element, weight_of_tap};
use crate::backend::cube::unit::blocks::{add_outside_to_results, write_channels};

/// Reduces what is kept along x, for the elements of a step, and writes those of which nothing is left.
#[cube]
pub fn reduce_elements<F: Float>(
    output: &mut Tensor<F>,
    positions: &mut Sequence<OwnedTensor<u32>>,
    pool: &Pool<'_>,
    step: &Step,
    results: &mut Results,
    kept: &Shared<[u32]>,
) {
    let rows = comptime!(ROWS as u32);
    let mut item = UNIT_POS;
    while item < pool.blocks * rows * pool.elements {
        let (mut rest, mut column) = pool.cubes.columns.div_mod(item);
        if pool.elements < pool.layout.x.elements {
            rest = item / pool.elements;
            column = item % pool.elements;
        }
        column += step.column;
        let (block, row) = (rest / rows, rest % rows);
        let (block_of_cube, row_of_output) = (step.block + block, step.row + row);
        if block_of_cube < pool.end_block && row_of_output < pool.layout.y.elements && column < pool.layout.x.elements {
            let element = planned_element(pool.plans, pool.region.start, &pool.layout.x, column);
            if step.pixels == 0u32 {
                start(results, pool.cubes);
            }
            reduce_element(pool, &element, step.pixels, row, block * pool.kept, results, kept);
            if !step.is_left {
                let of_row = planned_element(pool.plans, pool.region.start, &pool.layout.y, row_of_output);
                let share = of_row.share * element.share;
                add_outside_to_results(
                    &mut results.values,
                    share,
                    pool.cubes.outside,
                    comptime!(pool.cubes.layout.of_block),
                    pool.cubes.reduction,
                );
                write_element(output, &results.values, pool, block_of_cube, row_of_output, column);
                if comptime!(pool.cubes.finds_positions) {
                    let positions = positions.index_mut(0usize);
                    write_element(
                        positions,
                        &results.positions,
                        pool,
                        block_of_cube,
                        row_of_output,
                        column,
                    );
                }
            }
        }
        item += comptime!(UNITS as u32);
    }
}

/// Reduces what an element reads of the columns from `pixels` on, which units from `first` on have kept.
#[cube]
fn reduce_element(
    pool: &Pool<'_>,
    element: &PlannedElement,
    pixels: u32,
    row: u32,
    first: u32,
    results: &mut Results,
    kept: &Shared<[u32]>,
) {
    let of_block = comptime!(pool.cubes.layout.of_block);
    let mut columns = Array::<f32>::new(of_block);
    for tap in 0..element.taps {
        let mut number = element.number + tap;
        if !pool.are_taps {
            number = pixel_of_tap(pool.plans, element, tap) - pool.region.x.first;
        }
        // Columns before these have huge numbers in a u32.
        let number = number - pixels;
        if number < pool.kept {
            let place = place_in_kept(row, first + number);
            #[unroll]
            for channel in 0..of_block {
                columns[channel] = f32::reinterpret(kept[place + comptime!(channel * ROWS * UNITS)]);
            }
            if comptime!(pool.cubes.finds_positions) {
                #[unroll]
                for channel in 0..of_block {
                    let position = kept[place + comptime!((of_block + channel) * ROWS * UNITS)];
                    let found = results.positions[channel];
                    let is_first = found != NOWHERE && position < found;
                    compare(results, columns[channel], position, is_first, channel);
                }
            } else {
                let weight = weight_of_tap(pool.plans, element, tap);
                reduce(results, &columns, weight, pool.cubes);
            }
        }
    }
}

/// Writes an element in a block of channels.
#[cube]
fn write_element<N: Numeric, R: Numeric>(
    output: &mut Tensor<N>,
    results: &Array<R>,
    pool: &Pool<'_>,
    block: u32,
    row: u32,
    column: u32,
) {
    let of_block = comptime!(pool.cubes.layout.of_block);
    let wanted = block as usize * of_block;
    let first = wanted.min(output.shape(1) - of_block);
    // These channels are those of the block before, which writes them.
    let overlap = wanted - first;
    let step = output.stride(1);
    let of_element = row as usize * output.stride(2) + column as usize * output.stride(3);
    let place = pool.row * output.stride(0) + first * step + of_element;
    write_channels(output, place, step, overlap, results, of_block);
}
