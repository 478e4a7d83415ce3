//! The channels that a unit computes together, with the same coordinates and weights: blocks of eight.

use cubecl::prelude::*;

use super::unit::{CHANNELS, Element, Sizes, Units, planes, write};
use crate::geometry::operator::ChannelMap;

/// How many blocks a unit computes together.
///
/// Registers limit it. Before samples were joined, box-p2 took 121 instructions an output with four blocks and 130 with
/// two. But a unit took 208 registers instead of 128 (`ptxas` for `sm_90a`), so a GPU held half as many units.
pub const TOGETHER: usize = 2;

/// A block of channels.
#[derive(CubeType)]
pub struct Block {
    /// The first of its output channels.
    first: usize,
    /// Whether the unit computes it.
    pub computed: bool,
    /// Where pixel 0 lies in the channels that it reads.
    pub planes: Array<usize>,
    pub results: Array<f32>,
}

/// The output channel after the last one of a unit.
#[cube]
pub fn channels_end(units: &Units, element: &Element, sizes: &Sizes) -> usize {
    (element.channel + units.blocks * CHANNELS).min(sizes.channels)
}

/// The blocks from channel `first` on, whose results start from `start`.
#[cube]
#[allow(clippy::too_many_arguments)]
pub fn blocks<F: Float>(
    features: &Tensor<F>,
    image: usize,
    element: &Element,
    first: usize,
    end: usize,
    sizes: &Sizes,
    start: f32,
    #[comptime] channel_map: ChannelMap,
) -> Sequence<Block> {
    let mut blocks = Sequence::new();
    #[unroll]
    for number in 0..TOGETHER {
        let first = first + number * CHANNELS;
        let mut results = Array::<f32>::new(CHANNELS);
        #[unroll]
        for channel in 0..CHANNELS {
            results[channel] = start;
        }
        blocks.push(Block {
            first,
            computed: first < end,
            planes: planes(features, image, element, first, sizes, channel_map),
            results,
        });
    }
    blocks
}

/// Writes what was computed.
#[cube]
pub fn write_blocks<F: Float>(output: &mut Tensor<F>, element: &Element, blocks: &Sequence<Block>) {
    #[unroll]
    for number in 0..TOGETHER {
        write_block(output, element, &blocks[number]);
    }
}

#[cube]
fn write_block<F: Float>(output: &mut Tensor<F>, element: &Element, block: &Block) {
    if block.computed {
        write(output, element, block.first, &block.results);
    }
}
