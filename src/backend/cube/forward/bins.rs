//! Elements that read bins of whole pixels.

use cubecl::prelude::*;

use crate::backend::cube::unit::blocks::{Block, Blocks, blocks, multiply, write_blocks};
use crate::backend::cube::unit::channels::{Layout, pixel_in_planes};
use crate::backend::cube::unit::element::{Element, sizes};
use crate::backend::cube::unit::plan::ReductionPlan;
use crate::backend::cube::unit::region::BoxRow;
use crate::geometry::options::Reduction;
use crate::geometry::real::single::bins::{BinRule, bin, extent};

/// Pools an element in all channels of its unit.
#[cube]
pub fn pool_bins<F: Float>(
    features: &Tensor<F>,
    output: &mut Tensor<F>,
    element: &Element,
    region: &BoxRow,
    rule_y: &BinRule,
    rule_x: &BinRule,
    plan: &ReductionPlan,
) {
    let reduction = comptime!(plan.axes.settings.reduction);
    let sizes = sizes(output);
    let extent_y = extent(rule_y, region.y1, region.y2, sizes.rows as u32);
    let extent_x = extent(rule_x, region.x1, region.x2, sizes.columns as u32);
    let (height, width) = (features.shape(2) as u32, features.shape(3) as u32);
    let bin_y = bin(rule_y, &extent_y, element.row as u32, sizes.rows as u32, height);
    let bin_x = bin(rule_x, &extent_x, element.column as u32, sizes.columns as u32, width);
    let columns = bin_x.end - bin_x.start;

    let mut rows_end = bin_y.end;
    let mut value = plan.start;
    let mut share = 1.0 / ((bin_y.end - bin_y.start) as f32 * columns as f32);
    if !region.valid || bin_y.start >= bin_y.end || bin_x.start >= bin_x.end {
        rows_end = bin_y.start;
        value = plan.outside;
        share = 1.0;
    }

    let (row_step, step) = (features.stride(2), features.stride(3));
    // Two pixels are read from one address, where one lies after the other.
    let mut pairs = 0u32;
    if step == 1usize {
        pairs = columns / 2u32;
    }
    let mut blocks = blocks(features, region.image, element, &sizes, value);
    for y in bin_y.start..rows_end {
        let mut pixel = y as usize * row_step + bin_x.start as usize * step;
        for _ in 0..pairs {
            reduce(features, pixel, true, &mut blocks, reduction);
            pixel += 2;
        }
        for _ in 2u32 * pairs..columns {
            reduce(features, pixel, false, &mut blocks, reduction);
            pixel += step;
        }
    }
    if comptime!(reduction == Reduction::Average) {
        multiply(&mut blocks, share);
    }
    write_blocks(output, element, &blocks);
}

/// Reduces a pixel, or also the one after it, in all channels of a unit.
#[cube]
fn reduce<F: Float>(
    features: &Tensor<F>,
    pixel: usize,
    #[comptime] are_two: bool,
    blocks: &mut Blocks,
    #[comptime] reduction: Reduction,
) {
    #[unroll]
    for number in 0..comptime!(blocks.layout.blocks) {
        reduce_block(
            features,
            pixel,
            are_two,
            &mut blocks.list[number],
            blocks.layout,
            reduction,
        );
    }
}

#[cube]
fn reduce_block<F: Float>(
    features: &Tensor<F>,
    pixel: usize,
    #[comptime] are_two: bool,
    block: &mut Block,
    #[comptime] layout: Layout,
    #[comptime] reduction: Reduction,
) {
    if block.computed {
        let planes = pixel_in_planes(&block.planes, pixel, layout);
        #[unroll]
        for channel in 0..layout.of_block {
            let first = planes.start + channel * planes.step;
            block.results[channel] = reduced::<F>(block.results[channel], features[first], reduction);
            if comptime!(are_two) {
                block.results[channel] = reduced::<F>(block.results[channel], features[first + 1], reduction);
            }
        }
    }
}

#[cube]
fn reduced<F: Float>(result: f32, pixel: F, #[comptime] reduction: Reduction) -> f32 {
    let pixel = f32::cast_from(pixel);
    if comptime!(reduction == Reduction::Average) {
        result + pixel
    } else {
        result.max(pixel)
    }
}
