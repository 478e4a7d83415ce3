//! Which output elements a unit computes, the region that they belong to, and the channels that they read.

use cubecl::prelude::*;
use cubecl::std::FastDivmod;

use crate::geometry::operator::ChannelMap;
use crate::geometry::options::BoxFormat;

/// Output channels in a channel block, where there are so many.
pub const CHANNELS: usize = 8;

/// Output channels in a block of a call. It is compiled in: calls with fewer channels than [`CHANNELS`] have a kernel
/// of their own, which reads each channel once.
pub fn channels_of_block(channels: usize) -> usize {
    if channels < CHANNELS { 1 } else { CHANNELS }
}

/// Channel blocks per pass over all regions: 32 channels.
///
/// Regions overlap, and read the map several times over. 32 of 256 channels of 200 x 304 are 8 MB, which
/// stays in the L2 cache from region to region; all of them are 62 MB, which do not.
pub const BLOCKS: usize = 4;

/// Enough units to fill a large GPU twice. An H200 has 8,650,752 registers, and a unit takes 128 (by `ptxas` for
/// `sm_90a`), so it holds 67,584 units. Where there would be more, a unit computes up to [`BLOCKS`] channel blocks,
/// since finding its region's axes takes as long as half a block.
pub const ENOUGH_UNITS: usize = 1 << 17;

/// How the output is divided among units.
#[derive(CubeType, CubeLaunch)]
pub struct Units {
    /// K, the number of units that share the channels of a pass, P and Q.
    sizes: Sequence<FastDivmod<usize>>,
    /// The second of these sizes.
    sharing: usize,
    /// How many blocks of channels a unit computes.
    pub blocks: usize,
    /// How many units there are.
    pub total: usize,
}

/// The output element of a unit, and the first of its channel blocks.
#[derive(CubeType)]
pub struct Element {
    pub region: usize,
    pub block: usize,
    pub row: usize,
    pub column: usize,
}

/// The sizes of the output.
#[derive(CubeType)]
pub struct Sizes {
    pub channels: usize,
    pub rows: usize,
    pub columns: usize,
}

/// Reads the sizes of the output.
#[cube]
pub fn sizes<F: Float>(output: &mut Tensor<F>) -> Sizes {
    Sizes {
        channels: output.shape(1),
        rows: output.shape(2),
        columns: output.shape(3),
    }
}

/// A row of the boxes, with its image.
#[derive(CubeType)]
pub struct BoxRow {
    pub image: usize,
    /// Whether the row names an image and is finite.
    pub valid: bool,
    pub x1: f32,
    pub y1: f32,
    pub x2: f32,
    pub y2: f32,
}

/// The output element of this unit. From the fastest index to the slowest: column, row, unit among those that share the
/// channels of a pass, region, pass.
#[cube]
pub fn element(units: &Units) -> Element {
    let (rest, column) = units.sizes[3].div_mod(ABSOLUTE_POS);
    let (rest, row) = units.sizes[2].div_mod(rest);
    let (rest, share) = units.sizes[1].div_mod(rest);
    let (round, region) = units.sizes[0].div_mod(rest);
    Element {
        region,
        // Beyond the last block in the last round, where rounds are not full.
        block: (round * units.sharing + share) * units.blocks,
        row,
        column,
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

/// Where the channels of the block from output channel `first` on lie.
#[cube]
pub fn planes<F: Float>(
    features: &Tensor<F>,
    image: usize,
    element: &Element,
    first: usize,
    sizes: &Sizes,
    #[comptime] channel_map: ChannelMap,
) -> Planes {
    let mut start = image * features.stride(0);
    let mut step = features.stride(1);
    if comptime!(channel_map == ChannelMap::PositionSensitive) {
        start += (element.row * sizes.columns + element.column) * step;
        step *= sizes.rows * sizes.columns;
    }
    Planes {
        start: start + first * step,
        step,
    }
}

/// Reads a row of the boxes.
#[cube]
pub fn read_box<F: Float, I: Int>(
    boxes: &Tensor<F>,
    batch_indices: &Tensor<I>,
    row: usize,
    batch: usize,
    #[comptime] format: BoxFormat,
) -> BoxRow {
    let index = batch_indices[row * batch_indices.stride(0)];
    // A cast to u32 and back changes an index that u32 cannot hold. An i32 of -1 survives it, but as a u32 it is
    // 2^32 - 1, which is not below `batch`.
    let image = u32::cast_from(index);
    let whole = I::cast_from(image) == index && (image as usize) < batch;

    let start = row * boxes.stride(0);
    let step = boxes.stride(1);
    let columns = comptime!(format.columns());
    let x1 = f32::cast_from(boxes[start + comptime!(columns[1][0]) * step]);
    let y1 = f32::cast_from(boxes[start + comptime!(columns[0][0]) * step]);
    let x2 = f32::cast_from(boxes[start + comptime!(columns[1][1]) * step]);
    let y2 = f32::cast_from(boxes[start + comptime!(columns[0][1]) * step]);
    BoxRow {
        image: image as usize,
        valid: whole && is_finite(x1) && is_finite(y1) && is_finite(x2) && is_finite(y2),
        x1,
        y1,
        x2,
        y2,
    }
}

/// By its bits, since some device compilers take it that there are no infinities.
#[cube]
pub fn is_finite(value: f32) -> bool {
    (value.to_bits() & 0x7F80_0000u32) != 0x7F80_0000u32
}
