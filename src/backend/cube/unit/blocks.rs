//! The results of the channel blocks that a unit computes together, with the same coordinates and weights.

use cubecl::prelude::*;

use super::channels::{Layout, Planes, pixel_in_planes};
use super::element::{Element, Sizes};
use crate::geometry::operator::ChannelMap;
use crate::geometry::options::Reduction;

/// A block of channels.
#[derive(CubeType)]
pub struct Block {
    /// The first of its output channels.
    first: usize,
    /// How many of its first channels the block before writes.
    overlap: usize,
    /// Whether the unit computes it.
    pub computed: bool,
    pub planes: Planes,
    pub results: Array<f32>,
}

/// The blocks of a unit.
#[derive(CubeType)]
pub struct Blocks {
    pub list: Sequence<Block>,
    #[cube(comptime)]
    pub layout: Layout,
}

/// The blocks of a unit, whose results start from `start`.
///
/// The last block ends at the last channel. Where channels do not divide into blocks, it overlaps the one before it.
/// Both compute those channels, and the one before writes them: Vulkan and WGSL forbid that two units write the same
/// element, even if they write the same value.
#[cube]
pub fn blocks<F: Float>(features: &Tensor<F>, image: usize, element: &Element, sizes: &Sizes, start: f32) -> Blocks {
    let layout = comptime!(element.layout);
    let of_block = layout.of_block;
    let end = ((element.block + element.blocks) * of_block).min(sizes.channels);
    let mut list = Sequence::new();
    #[unroll]
    for number in 0..layout.blocks {
        let wanted = (element.block + number) * of_block;
        let first = wanted.min(sizes.channels - of_block);
        let mut results = Array::<f32>::new(of_block);
        #[unroll]
        for channel in 0..of_block {
            results[channel] = start;
        }
        list.push(Block {
            first,
            overlap: wanted - first,
            computed: wanted < end,
            planes: planes(features, image, element, first, sizes),
            results,
        });
    }
    Blocks { list, layout }
}

/// Where the channels of the block from output channel `first` on lie.
#[cube]
fn planes<F: Float>(features: &Tensor<F>, image: usize, element: &Element, first: usize, sizes: &Sizes) -> Planes {
    let mut start = image * features.stride(0);
    let mut step = features.stride(1);
    if comptime!(element.layout.channel_map == ChannelMap::PositionSensitive) {
        start += (element.row * sizes.columns + element.column) * step;
        step *= sizes.rows * sizes.columns;
    }
    Planes {
        start: start + first * step,
        step,
    }
}

/// Two pixels of a row: where they lie in a channel, and their weights.
#[derive(CubeType)]
pub struct PixelPair {
    pub left: usize,
    /// How far the right pixel lies from the left one.
    pub distance: usize,
    pub left_weight: f32,
    pub right_weight: f32,
}

/// Adds two pixels by their weights, in all channels of a unit.
#[cube]
pub fn add_pixel_pair<F: Float>(features: &Tensor<F>, pair: &PixelPair, blocks: &mut Blocks) {
    let layout = comptime!(blocks.layout);
    if pair.distance == 1usize {
        #[unroll]
        for number in 0..layout.blocks {
            add_pixels_of_block(features, pair, &mut blocks.list[number], true, blocks.layout);
        }
    } else {
        #[unroll]
        for number in 0..layout.blocks {
            add_pixels_of_block(features, pair, &mut blocks.list[number], false, blocks.layout);
        }
    }
}

#[cube]
fn add_pixels_of_block<F: Float>(
    features: &Tensor<F>,
    pair: &PixelPair,
    block: &mut Block,
    #[comptime] are_neighbours: bool,
    #[comptime] layout: Layout,
) {
    if block.computed {
        let planes = pixel_in_planes(&block.planes, pair.left, layout);
        #[unroll]
        for channel in 0..layout.of_block {
            let left = planes.start + channel * planes.step;
            let mut right = left + pair.distance;
            if comptime!(are_neighbours) {
                right = left + 1;
            }
            block.results[channel] += pair.left_weight * f32::cast_from(features[left]);
            block.results[channel] += pair.right_weight * f32::cast_from(features[right]);
        }
    }
}

/// Adds a pixel by its weight, or compares it with a maximum, in all channels of a unit.
#[cube]
pub fn reduce_pixel<F: Float>(
    features: &Tensor<F>,
    pixel: usize,
    weight: f32,
    blocks: &mut Blocks,
    #[comptime] reduction: Reduction,
) {
    let layout = comptime!(blocks.layout);
    #[unroll]
    for number in 0..layout.blocks {
        let block = &mut blocks.list[number];
        if block.computed {
            let planes = pixel_in_planes(&block.planes, pixel, layout);
            #[unroll]
            for channel in 0..layout.of_block {
                let pixel = f32::cast_from(features[planes.start + channel * planes.step]);
                block.results[channel] = reduced(block.results[channel], pixel, weight, reduction);
            }
        }
    }
}

/// Adds what lies out of bounds to averages, or sets maxima without pixels to it. `share` is how much of an element
/// lies on the map.
#[cube]
pub fn add_outside(blocks: &mut Blocks, share: f32, outside: f32, #[comptime] reduction: Reduction) {
    let layout = comptime!(blocks.layout);
    #[unroll]
    for number in 0..layout.blocks {
        let block = &mut blocks.list[number];
        add_outside_to_results(&mut block.results, share, outside, layout.of_block, reduction);
    }
}

/// The same, for the results of a block.
#[cube]
pub fn add_outside_to_results(
    results: &mut Array<f32>,
    share: f32,
    outside: f32,
    #[comptime] of_block: usize,
    #[comptime] reduction: Reduction,
) {
    #[unroll]
    for channel in 0..of_block {
        if comptime!(reduction == Reduction::Average) {
            results[channel] += outside * (1.0 - share);
        } else {
            results[channel] = select(share > 0.0, results[channel], outside);
        }
    }
}

/// A sum with another weighted number, or a maximum with another number.
#[cube]
pub fn reduced(result: f32, number: f32, weight: f32, #[comptime] reduction: Reduction) -> f32 {
    if comptime!(reduction == Reduction::Average) {
        result + weight * number
    } else {
        result.max(number)
    }
}

#[cube]
pub fn multiply(blocks: &mut Blocks, factor: f32) {
    let layout = comptime!(blocks.layout);
    #[unroll]
    for number in 0..layout.blocks {
        let block = &mut blocks.list[number];
        #[unroll]
        for channel in 0..layout.of_block {
            block.results[channel] *= factor;
        }
    }
}

#[cube]
pub fn write_blocks<F: Float>(output: &mut Tensor<F>, element: &Element, blocks: &Blocks) {
    let layout = comptime!(blocks.layout);
    // Read once: a device compiler takes it that what is written may change strides.
    let step = output.stride(1);
    let place = element.region * output.stride(0) + element.row * output.stride(2) + element.column * output.stride(3);
    #[unroll]
    for number in 0..layout.blocks {
        let block = &blocks.list[number];
        if block.computed {
            let first = place + block.first * step;
            write_channels(output, first, step, block.overlap, &block.results, layout.of_block);
        }
    }
}

/// Writes the results of a block of channels, but the first `overlap`, which the block before writes.
#[cube]
pub fn write_channels<N: Numeric, R: Numeric>(
    output: &mut Tensor<N>,
    first: usize,
    step: usize,
    overlap: usize,
    results: &Array<R>,
    #[comptime] of_block: usize,
) {
    let mut index = first;
    // One comparison a block, and not one a channel, where channels divide into blocks.
    if overlap == 0usize {
        #[unroll]
        for channel in 0..of_block {
            output[index] = N::cast_from(results[channel]);
            index += step;
        }
    } else {
        #[unroll]
        for channel in 0..of_block {
            if channel >= overlap {
                output[index] = N::cast_from(results[channel]);
            }
            index += step;
        }
    }
}
