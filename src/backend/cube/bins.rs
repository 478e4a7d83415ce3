//! Elements that read bins of whole pixels.

use cubecl::prelude::*;

use super::blocks::{Block, blocks, multiply, places, write_blocks};
use super::kernel::Compiled;
use super::unit::{BLOCKS, BoxRow, Element, Units, sizes};
use crate::geometry::options::Reduction;
use crate::geometry::real::single::bins::{BinRule, bin, extent};

/// Pools an element in all channels of its unit. `start` is where a sum or a maximum starts.
#[cube]
#[allow(clippy::too_many_arguments)]
pub fn pool_bins<F: Float>(
    features: &Tensor<F>,
    output: &mut Tensor<F>,
    units: &Units,
    element: &Element,
    region: &BoxRow,
    rule_y: &BinRule,
    rule_x: &BinRule,
    start: f32,
    outside: f32,
    #[comptime] compiled: Compiled,
) {
    let sizes = sizes(output);
    let extent_y = extent(rule_y, region.y1, region.y2, sizes.rows as u32);
    let extent_x = extent(rule_x, region.x1, region.x2, sizes.columns as u32);
    let (height, width) = (features.shape(2) as u32, features.shape(3) as u32);
    let bin_y = bin(rule_y, &extent_y, element.row as u32, sizes.rows as u32, height);
    let bin_x = bin(rule_x, &extent_x, element.column as u32, sizes.columns as u32, width);
    let columns = bin_x.end - bin_x.start;

    let mut rows_end = bin_y.end;
    let mut value = start;
    let mut share = 1.0 / ((bin_y.end - bin_y.start) as f32 * columns as f32);
    if !region.valid || bin_y.start >= bin_y.end || bin_x.start >= bin_x.end {
        rows_end = bin_y.start;
        value = outside;
        share = 1.0;
    }

    let (row_step, step) = (features.stride(2), features.stride(3));
    // Two pixels are read from one address, where one lies after the other.
    let mut pairs = 0u32;
    if step == 1usize {
        pairs = columns / 2u32;
    }
    let mut blocks = blocks(features, region.image, element, units, &sizes, value, compiled.layout);
    for y in bin_y.start..rows_end {
        let mut pixel = y as usize * row_step + bin_x.start as usize * step;
        for _ in 0..pairs {
            reduce(features, pixel, true, &mut blocks, compiled);
            pixel += 2;
        }
        for _ in 2u32 * pairs..columns {
            reduce(features, pixel, false, &mut blocks, compiled);
            pixel += step;
        }
    }
    if comptime!(compiled.reduction == Reduction::Average) {
        multiply(&mut blocks, share, compiled.layout);
    }
    write_blocks(output, element, &blocks, compiled.layout);
}

/// Reduces a pixel, or also the one after it, in all channels of a unit.
#[cube]
fn reduce<F: Float>(
    features: &Tensor<F>,
    pixel: usize,
    #[comptime] are_two: bool,
    blocks: &mut Sequence<Block>,
    #[comptime] compiled: Compiled,
) {
    #[unroll]
    for number in 0..BLOCKS {
        reduce_block(features, pixel, are_two, &mut blocks[number], compiled);
    }
}

#[cube]
fn reduce_block<F: Float>(
    features: &Tensor<F>,
    pixel: usize,
    #[comptime] are_two: bool,
    block: &mut Block,
    #[comptime] compiled: Compiled,
) {
    if block.computed {
        let places = places(&block.planes, pixel, compiled.layout);
        #[unroll]
        for channel in 0..compiled.layout.of_block {
            let first = places.start + channel * places.step;
            block.results[channel] = reduced::<F>(block.results[channel], features[first], compiled.reduction);
            if comptime!(are_two) {
                block.results[channel] = reduced::<F>(block.results[channel], features[first + 1], compiled.reduction);
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
