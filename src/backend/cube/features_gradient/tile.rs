//! The pixels that a cube of units owns.

use cubecl::prelude::*;

use crate::backend::cube::launch::UNITS;
use crate::backend::cube::unit::channels::CHANNELS;
use crate::geometry::operator::ChannelMap;

/// The side of a tile in pixels: each of the cube's units owns one.
pub const SIDE: usize = 16;

const _: () = assert!(SIDE * SIDE == UNITS);

/// The tile of a cube, and the pixel of a unit.
#[derive(CubeType)]
pub struct Tile {
    pub image: usize,
    /// The first row and column of the tile.
    pub first_y: u32,
    pub first_x: u32,
    /// The pixel of this unit; beyond the map in tiles at its end.
    pub y: u32,
    pub x: u32,
    /// Whether the pixel is one of the map.
    pub on_map: bool,
    /// The first of the output channels whose gradient the cube gathers.
    pub channel: usize,
    /// The index of the group of channels: that of the element or of the sample which reads it.
    pub group: usize,
    /// Height and width of the map.
    pub height: u32,
    pub width: u32,
}

/// How many groups of channels the output elements read.
#[cube]
pub fn groups<F: Float>(gradient: &Tensor<F>, #[comptime] channel_map: ChannelMap) -> usize {
    let mut groups = 1usize.runtime();
    if comptime!(channel_map == ChannelMap::PositionSensitive) {
        groups = gradient.shape(2) * gradient.shape(3);
    }
    groups
}

/// The tile of this cube. There are `groups` groups of channels, and a cube owns `blocks_of_cube` channel blocks of one
/// group. Neighbouring cubes own the same pixels in further channels, and read the same regions.
#[cube]
pub fn tile<F: Float, O: Float>(
    gradient: &Tensor<F>,
    output: &mut Tensor<O>,
    groups: usize,
    blocks_of_cube: usize,
) -> Tile {
    let (height, width) = (output.shape(2), output.shape(3));
    let channels_of_cube = blocks_of_cube * CHANNELS;
    let blocks = gradient.shape(1).div_ceil(channels_of_cube);
    let cube = CUBE_POS;
    let (rest, block) = (cube / blocks, cube % blocks);
    let (rest, group) = (rest / groups, rest % groups);
    let across = width.div_ceil(SIDE);
    let down = height.div_ceil(SIDE);
    let (rest, tile_x) = (rest / across, rest % across);
    let (image, tile_y) = (rest / down, rest % down);
    let unit = UNIT_POS as usize;
    let first_y = (tile_y * SIDE) as u32;
    let first_x = (tile_x * SIDE) as u32;
    let y = first_y + (unit / SIDE) as u32;
    let x = first_x + (unit % SIDE) as u32;
    Tile {
        image,
        first_y,
        first_x,
        y,
        x,
        on_map: y < height as u32 && x < width as u32,
        channel: block * channels_of_cube,
        group,
        height: height as u32,
        width: width as u32,
    }
}

/// The strides of a gradient, read once: a device compiler may read them again for each element.
#[derive(CubeType)]
pub struct Strides {
    pub region: usize,
    pub channel: usize,
    row: usize,
    column: usize,
    last_channel: usize,
}

#[cube]
pub fn strides<F: Float>(gradient: &Tensor<F>) -> Strides {
    Strides {
        region: gradient.stride(0),
        channel: gradient.stride(1),
        row: gradient.stride(2),
        column: gradient.stride(3),
        last_channel: gradient.shape(1) - 1,
    }
}

/// Where an element of a region lies in channel 0.
#[cube]
pub fn place_of_element(strides: &Strides, row: usize, p: u32, q: u32) -> usize {
    row * strides.region + p as usize * strides.row + q as usize * strides.column
}

/// Where a channel lies, or the last one in place of those beyond it.
#[cube]
pub fn place_of_channel(strides: &Strides, channel: usize) -> usize {
    channel.min(strides.last_channel) * strides.channel
}

/// Sums of 0, for each of some blocks of channels.
#[cube]
pub fn sums_of_blocks(#[comptime] blocks: usize) -> Sequence<Array<f32>> {
    let mut sums = Sequence::<Array<f32>>::new();
    #[unroll]
    for _ in 0..blocks {
        let mut of_block = Array::<f32>::new(CHANNELS);
        #[unroll]
        for lane in 0..CHANNELS {
            of_block[lane] = 0.0;
        }
        sums.push(of_block);
    }
    sums
}

/// Adds the weighted gradient of an element in the blocks of channels from `first` up to `end`.
#[cube]
pub fn add_gradient<F: Float>(
    gradient: &Tensor<F>,
    strides: &Strides,
    place: usize,
    first: usize,
    end: usize,
    weight: f32,
    sums: &mut Sequence<Array<f32>>,
    #[comptime] blocks: usize,
) {
    #[unroll]
    for block in 0..blocks {
        let channel = first + block * CHANNELS;
        if channel < end {
            add_block(gradient, strides, place, channel, weight, &mut sums[block]);
        }
    }
}

#[cube]
fn add_block<F: Float>(
    gradient: &Tensor<F>,
    strides: &Strides,
    place: usize,
    channel: usize,
    weight: f32,
    sums: &mut Array<f32>,
) {
    #[unroll]
    for lane in 0..CHANNELS {
        sums[lane] += weight * f32::cast_from(gradient[place + place_of_channel(strides, channel + lane)]);
    }
}

/// Writes the sums of a unit's pixel in the output channels of the cube up to `end`, or adds them to what is there.
/// Output channel c reads channel `first + c * step` of the map.
#[cube]
pub fn write_pixel<F: Float>(
    output: &mut Tensor<F>,
    tile: &Tile,
    end: usize,
    first: usize,
    step: usize,
    adds: bool,
    sums: &Sequence<Array<f32>>,
    #[comptime] blocks: usize,
) {
    if tile.on_map {
        let (of_image, of_channel, of_row, of_column) =
            (output.stride(0), output.stride(1), output.stride(2), output.stride(3));
        let pixel = tile.image * of_image + tile.y as usize * of_row + tile.x as usize * of_column;
        let (place, distance) = (pixel + first * of_channel, step * of_channel);
        #[unroll]
        for block in 0..blocks {
            write_block(
                output,
                place,
                distance,
                tile.channel + block * CHANNELS,
                end,
                adds,
                &sums[block],
            );
        }
    }
}

#[cube]
fn write_block<F: Float>(
    output: &mut Tensor<F>,
    place: usize,
    distance: usize,
    first: usize,
    end: usize,
    adds: bool,
    sums: &Array<f32>,
) {
    #[unroll]
    for lane in 0..CHANNELS {
        let channel = first + lane;
        if channel < end {
            let index = place + channel * distance;
            let mut sum = sums[lane];
            if adds {
                sum += f32::cast_from(output[index]);
            }
            output[index] = F::cast_from(sum);
        }
    }
}
