//! How channels are divided into blocks and read: eight together, or one by one where there are fewer than eight.

use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use crate::backend::cube::launch::length;
use crate::geometry::operator::ChannelMap;

/// Output channels in a channel block, where there are so many.
pub const CHANNELS: usize = 8;

/// Channel blocks per pass over all regions: 32 channels.
///
/// Regions overlap, and read the map several times over. 32 of 256 channels of 200 x 304 are 8 MB, which
/// stays in the L2 cache from region to region; all of them are 62 MB, which do not.
pub const BLOCKS: usize = 4;

/// Features are small if they have at most so many elements. From the first channel of a block to its last are seven
/// steps. As 7 steps are below 2^29, one is below 2^27.
const MOST_SMALL: usize = 1 << 29;
const MOST_STEP: usize = 1 << 27;

/// How channels are divided and read. It is compiled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The output channels of a block. Calls with fewer than [`CHANNELS`] have a kernel of their own, which reads each
    /// channel once.
    pub of_block: usize,
    /// How many blocks a unit computes at most.
    pub blocks: usize,
    pub channel_map: ChannelMap,
    /// Whether features are small, as nearly all are.
    is_small: bool,
}

impl Layout {
    /// The layout of a call on maps, with so many output channels, of which a unit computes so many blocks at most.
    pub fn new(channels: usize, blocks: usize, channel_map: ChannelMap, levels: &[CubeTensor]) -> Self {
        Self {
            of_block: if channels < CHANNELS { 1 } else { CHANNELS },
            blocks,
            channel_map: match channel_map {
                // The other samples read channels at a distance from those of the first sample.
                ChannelMap::SampleSensitive { .. } => ChannelMap::Same,
                channel_map => channel_map,
            },
            is_small: levels.iter().all(|level| length(level) <= MOST_SMALL),
        }
    }

    /// The layout where each result has a position besides: half as many channels take as much shared memory.
    pub fn with_positions(self) -> Self {
        Self {
            of_block: self.of_block.div_ceil(2),
            ..self
        }
    }
}

/// Where the channels lie that a block of output channels reads.
#[derive(CubeType)]
pub struct Planes {
    /// Pixel 0 of the first.
    pub start: usize,
    /// The distance of two.
    pub step: usize,
}

/// Where a pixel lies in the channels of a block.
///
/// The bounds change nothing. But LLVM, which compiles for CUDA and ROCm, has to know that no index wraps before it
/// reads two neighbours from one address. With a bound for each index instead, box-p2 took 90 instructions an output,
/// and takes 83 with these.
#[cube]
pub fn pixel_in_planes(planes: &Planes, pixel: usize, #[comptime] layout: Layout) -> Planes {
    let mut start = planes.start + pixel;
    let mut step = planes.step;
    if comptime!(layout.is_small) {
        start = start.min(comptime!(MOST_SMALL - 1).runtime());
        step = step.min(comptime!(MOST_STEP - 1).runtime());
    }
    Planes { start, step }
}
