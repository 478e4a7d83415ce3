//! The pixels that a cube of units owns: a tile of the map in some channels.

use cubecl::prelude::*;
use cubecl::std::FastDivmod;

use crate::geometry::operator::ChannelMap;

/// How many units a cube has.
pub const UNITS: usize = 32;

/// The side of a tile in pixels.
pub const SIDE: usize = 8;

/// The row and the column behind the last ones of a tile. What is added there is not written.
pub const BEYOND: u32 = SIDE as u32;

/// The maps as tiles, and the channels as blocks.
#[derive(CubeType, CubeLaunch)]
pub struct Tiles {
    /// How many tiles all images have.
    pub count: usize,
    pub all: FastDivmod<usize>,
    /// How many a map has along x and along y.
    across: FastDivmod<usize>,
    down: FastDivmod<usize>,
    /// How many channels the gradient has.
    pub channels: usize,
    /// How many groups of channels of the map elements read. Channel c of group g is channel
    /// `g * group_step + c * channel_step` of the map.
    groups: FastDivmod<usize>,
    pub group_step: usize,
    pub channel_step: usize,
    pub cubes: usize,
    /// How many units share a channel.
    #[cube(comptime)]
    pub sharing: usize,
}

/// How the gradient of features is divided among cubes.
pub struct Division {
    /// How many tiles the maps have.
    pub tiles: usize,
    pub cubes: usize,
    across: usize,
    down: usize,
    channels: usize,
    groups: usize,
    map: ChannelMap,
}

impl Division {
    /// For maps `[N, C, H, W]` and a gradient of `[K, channels, P, Q]`.
    pub fn new(maps: [usize; 4], gradient: [usize; 4], map: ChannelMap) -> Self {
        let [images, _, height, width] = maps;
        let [_, channels, rows, columns] = gradient;
        let (down, across) = (height.div_ceil(SIDE), width.div_ceil(SIDE));
        let tiles = images * down * across;
        let groups = map.input_channels(rows * columns);
        Self {
            tiles,
            cubes: tiles * groups * channels.div_ceil(UNITS / sharing(channels)),
            across,
            down,
            channels,
            groups,
            map,
        }
    }

    pub fn launch(&self) -> TilesLaunch {
        let (group_step, channel_step) = match self.map {
            ChannelMap::SampleSensitive { .. } => (self.channels, 1),
            ChannelMap::Same | ChannelMap::PositionSensitive => (1, self.groups),
        };
        TilesLaunch::new(
            self.tiles,
            self.tiles,
            self.across,
            self.down,
            self.channels,
            self.groups,
            group_step,
            channel_step,
            self.cubes,
            sharing(self.channels),
        )
    }
}

/// How many units share a channel: where channels are few, one for each column.
fn sharing(channels: usize) -> usize {
    if is_few(channels) { SIDE } else { 1 }
}

/// Whether there are too few channels for a unit each.
pub fn is_few(channels: usize) -> bool {
    channels < UNITS / 4
}

/// The tile of a number.
#[derive(CubeType)]
pub struct TilePlace {
    pub image: usize,
    /// Its first row and column.
    pub y: u32,
    pub x: u32,
}

#[cube]
pub fn tile_place(tiles: &Tiles, number: usize) -> TilePlace {
    let (rest, across) = tiles.across.div_mod(number);
    let (image, down) = tiles.down.div_mod(rest);
    TilePlace {
        image,
        y: (down * SIDE) as u32,
        x: (across * SIDE) as u32,
    }
}

/// The tile of a cube, and what this unit owns of it.
#[derive(CubeType)]
pub struct Tile {
    pub number: usize,
    pub place: TilePlace,
    /// The index of the group of channels: that of the element or of the sample which reads it.
    pub group: usize,
    /// The first channel of the cube, and the number of this unit's behind it.
    pub first_channel: usize,
    pub lane: usize,
    /// The channel of this unit in the gradient; the last one for units beyond it.
    pub channel: usize,
    /// Of the units that share the channel, the number of this one.
    pub share: u32,
    #[cube(comptime)]
    pub sharing: usize,
}

/// The tile of this cube. Neighbouring cubes own neighbouring tiles, and read the same regions.
#[cube]
pub fn tile(tiles: &Tiles) -> Tile {
    let sharing = comptime!(tiles.sharing);
    let lanes = comptime!(UNITS / sharing);
    let (rest, number) = tiles.all.div_mod(CUBE_POS);
    let (block, group) = tiles.groups.div_mod(rest);
    let unit = UNIT_POS as usize;
    let first_channel = block * lanes;
    let lane = unit % lanes;
    Tile {
        number,
        place: tile_place(tiles, number),
        group,
        first_channel,
        lane,
        channel: (first_channel + lane).min(tiles.channels - 1),
        share: (unit / lanes) as u32,
        sharing,
    }
}

/// How many columns a unit owns, where so many units share a channel.
pub const fn columns_of_unit(sharing: usize) -> usize {
    SIDE / sharing
}

/// The column if this unit owns it, and [`BEYOND`] if not.
#[cube]
pub fn own_column(tile: &Tile, column: u32) -> u32 {
    // Units that share a channel own one column each.
    if comptime!(tile.sharing == 1) {
        column
    } else {
        select(column == tile.share, column, comptime!(BEYOND))
    }
}
