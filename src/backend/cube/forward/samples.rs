//! Elements that read samples between pixels.

use cubecl::prelude::*;

use super::pairs::{Pairs, advance, are_left, pairs, share_a_pixel};
use crate::backend::cube::unit::blocks::{Block, Blocks, PixelPair, add_pixel_pair, blocks, write_blocks};
use crate::backend::cube::unit::channels::Layout;
use crate::backend::cube::unit::element::{Element, sizes};
use crate::backend::cube::unit::plan::ReductionPlan;
use crate::backend::cube::unit::region::BoxRow;
use crate::geometry::options::Reduction;
use crate::geometry::real::single::samples::{SampleRule, axis, in_bounds};

/// Pools an element in all channels of its unit.
#[cube]
pub fn pool_samples<F: Float>(
    features: &Tensor<F>,
    output: &mut Tensor<F>,
    element: &Element,
    region: &BoxRow,
    rule_y: &SampleRule,
    rule_x: &SampleRule,
    plan: &ReductionPlan,
) {
    let height = features.shape(2) as u32;
    let width = features.shape(3) as u32;
    let sizes = sizes(output);
    let axis_y = axis(rule_y, region.y1, region.y2, sizes.rows as u32);
    let axis_x = axis(rule_x, region.x1, region.x2, sizes.columns as u32);
    let rows = in_bounds(rule_y, &axis_y, element.row as u32, height);
    let mut rows_end = rows.end;
    if !region.valid {
        rows_end = rows.first;
    }
    let columns = in_bounds(rule_x, &axis_x, element.column as u32, width);

    let samples = axis_y.samples as f32 * axis_x.samples as f32;
    let count_in_bounds = (rows_end - rows.first) as f32 * (columns.end - columns.first) as f32;
    // Read before the loops: a device compiler does not hoist a read that may not be reached.
    let row_step = features.stride(2);
    let step = features.stride(3);
    let reduction = comptime!(plan.axes.settings.reduction);
    let joined = comptime!(reduction == Reduction::Average);
    let mut blocks = blocks(features, region.image, element, &sizes, plan.start);
    let mut y = pairs(rows.first);
    while are_left(&y, rows_end) {
        advance(&mut y, rule_y, &axis_y, element.row as u32, height, rows_end, joined);
        let mut x = pairs(columns.first);
        while are_left(&x, columns.end) {
            advance(
                &mut x,
                rule_x,
                &axis_x,
                element.column as u32,
                width,
                columns.end,
                joined,
            );
            if comptime!(joined) {
                share_a_pixel(&mut x, columns.end);
                add_rows(features, &y, &x, row_step, step, &mut blocks);
            } else {
                let square = square(&y, &x, row_step, step);
                #[unroll]
                for number in 0..comptime!(blocks.layout.blocks) {
                    compare_square(features, &square, &mut blocks.list[number], blocks.layout, reduction);
                }
            }
        }
    }
    add_out_of_bounds(&mut blocks, samples, count_in_bounds, plan);
    write_blocks(output, element, &blocks);
}

/// Adds the pixels of two rows in two columns, by their weights. Both rows may be the same, and both columns.
#[cube]
fn add_rows<F: Float>(features: &Tensor<F>, y: &Pairs, x: &Pairs, row_step: usize, step: usize, blocks: &mut Blocks) {
    let mut row = y.low;
    let mut weight = y.low_weight;
    let mut rows = 2u32;
    if y.high == y.low {
        weight += y.high_weight;
        rows = 1u32;
    }
    for _ in 0..rows {
        let pair = PixelPair {
            left: row as usize * row_step + x.low as usize * step,
            distance: (x.high - x.low) as usize * step,
            left_weight: weight * x.low_weight,
            right_weight: weight * x.high_weight,
        };
        add_pixel_pair(features, &pair, blocks);
        row = y.high;
        weight = y.high_weight;
    }
}

/// Four pixels: where they lie in a channel, and their weights.
#[derive(CubeType)]
struct Square {
    offset_11: usize,
    offset_12: usize,
    offset_21: usize,
    offset_22: usize,
    weight_11: f32,
    weight_12: f32,
    weight_21: f32,
    weight_22: f32,
}

#[cube]
fn square(y: &Pairs, x: &Pairs, row_step: usize, step: usize) -> Square {
    let (low, high) = (y.low as usize * row_step, y.high as usize * row_step);
    let (left, right) = (x.low as usize * step, x.high as usize * step);
    Square {
        offset_11: low + left,
        offset_12: low + right,
        offset_21: high + left,
        offset_22: high + right,
        weight_11: y.low_weight * x.low_weight,
        weight_12: y.low_weight * x.high_weight,
        weight_21: y.high_weight * x.low_weight,
        weight_22: y.high_weight * x.high_weight,
    }
}

/// Compares four more pixels with a maximum, in all channels of a block.
#[cube]
fn compare_square<F: Float>(
    features: &Tensor<F>,
    square: &Square,
    block: &mut Block,
    #[comptime] layout: Layout,
    #[comptime] reduction: Reduction,
) {
    if block.computed {
        let mut plane = block.planes.start;
        #[unroll]
        for channel in 0..layout.of_block {
            let corner_11 = square.weight_11 * f32::cast_from(features[plane + square.offset_11]);
            let corner_12 = square.weight_12 * f32::cast_from(features[plane + square.offset_12]);
            let corner_21 = square.weight_21 * f32::cast_from(features[plane + square.offset_21]);
            let corner_22 = square.weight_22 * f32::cast_from(features[plane + square.offset_22]);
            if comptime!(reduction == Reduction::MaxOfWeightedCorners) {
                let above = corner_11.max(corner_12);
                let below = corner_21.max(corner_22);
                block.results[channel] = block.results[channel].max(above.max(below));
            } else {
                let sample = (corner_11 + corner_12) + (corner_21 + corner_22);
                block.results[channel] = block.results[channel].max(sample);
            }
            plane += block.planes.step;
        }
    }
}

/// Ends the reduction with the samples out of bounds.
#[cube]
fn add_out_of_bounds(blocks: &mut Blocks, samples: f32, count_in_bounds: f32, plan: &ReductionPlan) {
    let reduction = comptime!(plan.axes.settings.reduction);
    #[unroll]
    for number in 0..comptime!(blocks.layout.blocks) {
        add_out_of_bounds_of_block(
            &mut blocks.list[number],
            samples,
            count_in_bounds,
            plan.outside,
            blocks.layout,
            reduction,
        );
    }
}

#[cube]
fn add_out_of_bounds_of_block(
    block: &mut Block,
    samples: f32,
    count_in_bounds: f32,
    outside: f32,
    #[comptime] layout: Layout,
    #[comptime] reduction: Reduction,
) {
    if comptime!(reduction == Reduction::Average) {
        // By shares: ten times a value of -3e38 is infinite.
        let mut share = 1.0 / samples;
        let mut missing = outside * ((samples - count_in_bounds) * share);
        if count_in_bounds == 0.0 {
            share = 0.0;
            missing = outside;
        }
        #[unroll]
        for channel in 0..layout.of_block {
            block.results[channel] = block.results[channel] * share + missing;
        }
    } else {
        #[unroll]
        for channel in 0..layout.of_block {
            let mut result = block.results[channel];
            if count_in_bounds < samples {
                result = result.max(outside);
            }
            block.results[channel] = select(count_in_bounds > 0.0, result, outside);
        }
    }
}
