//! The channels that a unit computes together, with the same coordinates and weights: blocks of eight, or of one where
//! there are fewer than eight.

use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::kernel::length;
use super::unit::{BLOCKS, Element, Planes, Sizes, Units, channels_of_block, planes};
use crate::geometry::operator::ChannelMap;

/// Features are small if they have at most so many numbers. From the first channel of a block to its last are seven
/// steps, so that one step is below `MOST_STEP`.
const MOST_SMALL: usize = 1 << 29;
const MOST_STEP: usize = 1 << 27;

/// How channels are divided and read, as far as it is compiled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The output channels of a block.
    pub of_block: usize,
    channel_map: ChannelMap,
    /// Whether features are small, as nearly all are.
    is_small: bool,
}

impl Layout {
    /// The layout of a call with so many output channels.
    pub fn new(channels: usize, channel_map: ChannelMap, features: &CubeTensor) -> Self {
        Self {
            of_block: channels_of_block(channels),
            channel_map,
            is_small: length(features) <= MOST_SMALL,
        }
    }
}

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

/// The blocks of a unit, whose results start from `start`.
///
/// The last block ends at the last channel. Where channels do not divide into blocks, it overlaps the one before it.
/// Both compute those channels, and the one before writes them: Vulkan and WGSL forbid that two units write the same
/// number, even if they write the same value.
#[cube]
pub fn blocks<F: Float>(
    features: &Tensor<F>,
    image: usize,
    element: &Element,
    units: &Units,
    sizes: &Sizes,
    start: f32,
    #[comptime] layout: Layout,
) -> Sequence<Block> {
    let of_block = layout.of_block;
    let end = ((element.block + units.blocks) * of_block).min(sizes.channels);
    let mut blocks = Sequence::new();
    #[unroll]
    for number in 0..BLOCKS {
        let wanted = (element.block + number) * of_block;
        let first = wanted.min(sizes.channels - of_block);
        let mut results = Array::<f32>::new(of_block);
        #[unroll]
        for channel in 0..of_block {
            results[channel] = start;
        }
        blocks.push(Block {
            first,
            overlap: wanted - first,
            computed: wanted < end,
            planes: planes(features, image, element, first, sizes, layout.channel_map),
            results,
        });
    }
    blocks
}

/// Two pixels of a row, by where they lie in a channel, and their weights.
#[derive(CubeType)]
pub struct Two {
    pub left: usize,
    /// How far the right pixel lies from the left one.
    pub distance: usize,
    pub left_weight: f32,
    pub right_weight: f32,
}

/// Adds two pixels by their weights, in all channels of a unit.
#[cube]
pub fn add_two<F: Float>(features: &Tensor<F>, two: &Two, blocks: &mut Sequence<Block>, #[comptime] layout: Layout) {
    if two.distance == 1usize {
        #[unroll]
        for number in 0..BLOCKS {
            add_two_of_block(features, two, &mut blocks[number], true, layout);
        }
    } else {
        #[unroll]
        for number in 0..BLOCKS {
            add_two_of_block(features, two, &mut blocks[number], false, layout);
        }
    }
}

#[cube]
fn add_two_of_block<F: Float>(
    features: &Tensor<F>,
    two: &Two,
    block: &mut Block,
    #[comptime] are_neighbours: bool,
    #[comptime] layout: Layout,
) {
    if block.computed {
        let places = places(&block.planes, two.left, layout);
        #[unroll]
        for channel in 0..layout.of_block {
            let left = places.start + channel * places.step;
            let mut right = left + two.distance;
            if comptime!(are_neighbours) {
                right = left + 1;
            }
            block.results[channel] += two.left_weight * f32::cast_from(features[left]);
            block.results[channel] += two.right_weight * f32::cast_from(features[right]);
        }
    }
}

/// Where a pixel lies in the channels of a block.
///
/// The bounds change nothing. But LLVM, which compiles for CUDA and ROCm, has to know that no index wraps before it
/// reads two neighbours from one address. With a bound for each index instead, box-p2 took 90 instructions an output,
/// and takes 83 with these.
#[cube]
pub fn places(planes: &Planes, pixel: usize, #[comptime] layout: Layout) -> Planes {
    let mut start = planes.start + pixel;
    let mut step = planes.step;
    if comptime!(layout.is_small) {
        start = start.min(comptime!(MOST_SMALL - 1).runtime());
        step = step.min(comptime!(MOST_STEP - 1).runtime());
    }
    Planes { start, step }
}

/// Multiplies what was computed.
#[cube]
pub fn multiply(blocks: &mut Sequence<Block>, factor: f32, #[comptime] layout: Layout) {
    #[unroll]
    for number in 0..BLOCKS {
        multiply_block(&mut blocks[number], factor, layout);
    }
}

#[cube]
fn multiply_block(block: &mut Block, factor: f32, #[comptime] layout: Layout) {
    #[unroll]
    for channel in 0..layout.of_block {
        block.results[channel] *= factor;
    }
}

/// Writes what was computed.
#[cube]
pub fn write_blocks<F: Float>(
    output: &mut Tensor<F>,
    element: &Element,
    blocks: &Sequence<Block>,
    #[comptime] layout: Layout,
) {
    // Read once: a device compiler takes it that what is written may change strides.
    let step = output.stride(1);
    let place = element.region * output.stride(0) + element.row * output.stride(2) + element.column * output.stride(3);
    #[unroll]
    for number in 0..BLOCKS {
        write_block(output, place, step, &blocks[number], layout);
    }
}

#[cube]
fn write_block<F: Float>(output: &mut Tensor<F>, place: usize, step: usize, block: &Block, #[comptime] layout: Layout) {
    if block.computed {
        let first = place + block.first * step;
        // One comparison a block, and not one a channel, where channels divide into blocks.
        if block.overlap == 0usize {
            write_channels(output, first, step, block, false, layout);
        } else {
            write_channels(output, first, step, block, true, layout);
        }
    }
}

#[cube]
fn write_channels<F: Float>(
    output: &mut Tensor<F>,
    first: usize,
    step: usize,
    block: &Block,
    #[comptime] overlaps: bool,
    #[comptime] layout: Layout,
) {
    let mut index = first;
    #[unroll]
    for channel in 0..layout.of_block {
        if comptime!(!overlaps) || channel >= block.overlap {
            output[index] = F::cast_from(block.results[channel]);
        }
        index += step;
    }
}
