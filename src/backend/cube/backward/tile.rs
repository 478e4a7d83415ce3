//! The pixels that a cube of units owns, and the regions that reach them.

use cubecl::prelude::*;

use crate::backend::cube::unit::{BoxRow, CHANNELS, read_box};
use crate::geometry::operator::ChannelMap;
use crate::geometry::options::BoxFormat;
use crate::geometry::real::single::area::{AreaRule, in_range};
use crate::geometry::real::single::between::Reach;
use crate::geometry::real::single::bins::extent;
use crate::geometry::real::single::integrals;
use crate::geometry::real::single::reach::{elements_of_bins, elements_of_integrals, elements_of_samples};
use crate::geometry::real::single::rules::{Rules, RulesExpand};
use crate::geometry::real::single::samples::axis;

/// The side of a tile in pixels.
pub const SIDE: usize = 16;

/// How many units a cube has: one for each pixel of a tile.
pub const UNITS: usize = SIDE * SIDE;

/// How many numbers [`list_flagged`] shares: a flag for each unit, and how many are set in each row of the square.
pub const FLAGS: usize = UNITS + SIDE;

/// How many numbers a list of rows has: a row for each unit, a 0 behind them, and how many rows are listed.
///
/// What is not listed is 0, so that it is a row. Mesa's llvmpipe runs the body of a loop once more with no unit active,
/// and reads all the same where the address is one for all units. A float that lay there, taken for a row, ended the
/// process.
pub const LIST: usize = UNITS + 2;

/// Where in the list it stands how many rows are listed.
const COUNT: usize = LIST - 1;

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
    /// The number of the group of channels: that of the element or of the sample which reads it.
    pub place: usize,
    /// Height and width of the map.
    pub height: u32,
    pub width: u32,
}

/// How many groups of channels the output elements read.
#[cube]
pub fn places<F: Float>(gradient: &Tensor<F>, #[comptime] channel_map: ChannelMap) -> usize {
    let mut places = 1usize.runtime();
    if comptime!(channel_map == ChannelMap::PositionSensitive) {
        places = gradient.shape(2) * gradient.shape(3);
    }
    places
}

/// The tile of this cube. There are `places` groups of channels, and a cube owns `blocks_of_cube` channel blocks of one
/// group. Neighbouring cubes own the same pixels in further channels, and read the same regions.
#[cube]
pub fn tile<F: Float>(gradient: &Tensor<F>, output: &mut Tensor<F>, places: usize, blocks_of_cube: usize) -> Tile {
    let (height, width) = (output.shape(2), output.shape(3));
    let channels_of_cube = blocks_of_cube * CHANNELS;
    let blocks = gradient.shape(1).div_ceil(channels_of_cube);
    let cube = CUBE_POS;
    let (rest, block) = (cube / blocks, cube % blocks);
    let (rest, place) = (rest / places, rest % places);
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
        place,
        height: height as u32,
        width: width as u32,
    }
}

/// The elements of a region that may read pixels.
#[derive(CubeType)]
pub struct Elements {
    pub rows: Reach,
    pub columns: Reach,
}

/// The elements of a region that may read pixels from `first` up to and including `last`, `[y, x]` each.
#[cube]
#[allow(clippy::too_many_arguments)]
pub fn elements_reading(
    rules: &Rules,
    region: &BoxRow,
    first_y: u32,
    last_y: u32,
    first_x: u32,
    last_x: u32,
    rows: u32,
    columns: u32,
) -> Elements {
    match rules {
        Rules::Samples(y, x) => {
            let axis_y = axis(y, region.y1, region.y2, rows);
            let axis_x = axis(x, region.x1, region.x2, columns);
            Elements {
                rows: elements_of_samples(y, &axis_y, rows, first_y, last_y),
                columns: elements_of_samples(x, &axis_x, columns, first_x, last_x),
            }
        }
        Rules::Bins(y, x) => {
            let extent_y = extent(y, region.y1, region.y2, rows);
            let extent_x = extent(x, region.x1, region.x2, columns);
            Elements {
                rows: elements_of_bins(&extent_y, rows, first_y, last_y),
                columns: elements_of_bins(&extent_x, columns, first_x, last_x),
            }
        }
        Rules::Integrals(y, x) => {
            let extent_y = integrals::extent(y, region.y1, region.y2, rows);
            let extent_x = integrals::extent(x, region.x1, region.x2, columns);
            Elements {
                rows: elements_of_integrals(&extent_y, rows, first_y, last_y),
                columns: elements_of_integrals(&extent_x, columns, first_x, last_x),
            }
        }
    }
}

/// Lists those of the next [`UNITS`] regions from `first` on that may reach the tile, in their order, and returns how
/// many they are. Every unit looks at one region.
#[cube]
#[allow(clippy::too_many_arguments)]
pub fn list_regions<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    boxes: &Tensor<R>,
    batch_indices: &Tensor<I>,
    batch: usize,
    rules: &Rules,
    areas: &AreaRule,
    tile: &Tile,
    first: usize,
    flags: &mut Shared<[u32]>,
    list: &mut Shared<[u32]>,
    #[comptime] box_format: BoxFormat,
    #[comptime] of_level: bool,
) -> u32 {
    let unit = UNIT_POS as usize;
    let row = first + unit;
    let mut flag = 0u32;
    if row < gradient.shape(0) {
        let region = read_box(boxes, batch_indices, row, batch, box_format);
        let mut pooled = region.valid && region.image == tile.image;
        if comptime!(of_level) {
            pooled = pooled && in_range(areas, region.y1, region.x1, region.y2, region.x2);
        }
        if pooled {
            let side = comptime!(SIDE as u32 - 1);
            let elements = elements_reading(
                rules,
                &region,
                tile.first_y,
                (tile.first_y + side).min(tile.height - 1u32),
                tile.first_x,
                (tile.first_x + side).min(tile.width - 1u32),
                gradient.shape(2) as u32,
                gradient.shape(3) as u32,
            );
            if elements.rows.first < elements.rows.end && elements.columns.first < elements.columns.end {
                flag = 1u32;
            }
        }
    }
    list_flagged(flag, row, flags, list)
}

/// Lists the rows of those units whose flag is 1, in the order of units, and returns how many they are.
///
/// A unit adds up the flags before its own: those of whole rows of a square of units first, which are added up once,
/// then those of its own row. The total goes through shared memory, in the list. WGSL allows a barrier in a loop
/// only where every unit runs it equally often, and cannot see that of a number that each unit has counted.
#[cube]
pub fn list_flagged(flag: u32, row: usize, flags: &mut Shared<[u32]>, list: &mut Shared<[u32]>) -> u32 {
    let unit = UNIT_POS as usize;
    // What the units before have listed is read by now.
    sync_cube();
    flags[unit] = flag;
    list[unit] = 0u32;
    sync_cube();
    if unit < SIDE {
        let mut of_row = 0u32;
        for other in 0..SIDE {
            of_row += flags[unit * SIDE + other];
        }
        flags[UNITS + unit] = of_row;
    }
    sync_cube();
    let own = unit / SIDE;
    let mut before = 0u32;
    for other in 0..own {
        before += flags[UNITS + other];
    }
    for other in own * SIDE..unit {
        before += flags[other];
    }
    if flag == 1u32 {
        list[before as usize] = row as u32;
    }
    if unit == UNITS - 1 {
        list[UNITS] = 0u32;
        list[COUNT] = before + flag;
    }
    workgroup_uniform_load(&list[COUNT])
}

/// Writes the sums of a unit's pixel in the block of channels from `first` on.
#[cube]
pub fn write_pixel<F: Float>(
    output: &mut Tensor<F>,
    channels: usize,
    tile: &Tile,
    first: usize,
    sums: &Array<f32>,
    #[comptime] channel_map: ChannelMap,
) {
    if tile.on_map {
        let (of_image, of_channel, of_row, of_column) =
            (output.stride(0), output.stride(1), output.stride(2), output.stride(3));
        let pixel = tile.image * of_image + tile.y as usize * of_row + tile.x as usize * of_column;
        let mut step = 1usize.runtime();
        if comptime!(channel_map == ChannelMap::PositionSensitive) {
            step = output.shape(1) / channels;
        }
        #[unroll]
        for lane in 0..CHANNELS {
            let channel = first + lane;
            if channel < channels {
                output[pixel + (channel * step + tile.place) * of_channel] = F::cast_from(sums[lane]);
            }
        }
    }
}
