//! The channels that a unit computes together, with the same coordinates and weights: blocks of eight, or of one where
//! there are fewer than eight.

use cubecl::prelude::*;

use super::unit::{BLOCKS, Element, Planes, Sizes, Units, channels_of_block, planes};
use crate::geometry::operator::ChannelMap;

/// How channels are divided and read, as far as it is compiled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The output channels of a block.
    pub of_block: usize,
    channel_map: ChannelMap,
    /// The type of an index.
    addresses: AddressType,
}

impl Layout {
    /// The layout of a call with so many output channels.
    pub fn new(channels: usize, channel_map: ChannelMap, addresses: AddressType) -> Self {
        Self {
            of_block: channels_of_block(channels),
            channel_map,
            addresses,
        }
    }
}

/// A block of channels.
#[derive(CubeType)]
pub struct Block {
    /// The first of its output channels.
    first: usize,
    /// Whether the unit computes it.
    pub computed: bool,
    pub planes: Planes,
    pub results: Array<f32>,
}

/// The blocks of a unit, whose results start from `start`.
///
/// The last block ends at the last channel. Where channels do not divide into blocks, it has some of those before it
/// too, which come out the same there.
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
    /// Of the right pixel from the left one.
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
        let mut place = block.planes.start + two.left;
        #[unroll]
        for channel in 0..layout.of_block {
            let mut left = place;
            let mut right = place + two.distance;
            if comptime!(are_neighbours) {
                left = first_of_two(place, layout);
                right = left + 1;
            }
            block.results[channel] += two.left_weight * f32::cast_from(features[left]);
            block.results[channel] += two.right_weight * f32::cast_from(features[right]);
            place += block.planes.step;
        }
    }
}

/// The index of the first of two numbers that lie one after another.
///
/// No index is changed. But LLVM, which compiles for CUDA and ROCm, has to know that `index + 1` does not wrap before
/// it reads both numbers from one address. box-p2 took 94 instructions an output with this, and 106 without.
#[cube]
pub fn first_of_two(index: usize, #[comptime] layout: Layout) -> usize {
    let mut first = index;
    if comptime!(layout.addresses == AddressType::U32) {
        first = index.min(comptime!(u32::MAX as usize - 1).runtime());
    }
    first
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
        let mut index = place + block.first * step;
        #[unroll]
        for channel in 0..layout.of_block {
            output[index] = F::cast_from(block.results[channel]);
            index += step;
        }
    }
}
