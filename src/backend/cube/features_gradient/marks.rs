//! Which regions may reach which tiles: a bit for each. The cubes of a tile read the bits, and need not look at all
//! regions. The bits of K regions take K / 2048 words for each pixel of a map.

use cubecl::prelude::*;

use super::tile::{SIDE, Tile, Tiles, tile_place};
use crate::backend::cube::plan::layout::{NO_LEVEL, PlanLayout, planned_region};

/// How many regions have their bits in one word.
pub const OF_WORD: usize = 32;

/// The marks of planned regions: for each [`OF_WORD`] of them a word for each tile.
#[cube(launch, address_type = "dynamic")]
pub fn mark_regions(plans: &Tensor<u32>, marks: &mut Tensor<u32>, tiles: &Tiles, layout: &PlanLayout, regions: usize) {
    let place = ABSOLUTE_POS;
    if place >= tiles.count * regions.div_ceil(OF_WORD) {
        terminate!();
    }
    let (word, number) = tiles.all.div_mod(place);
    let tile = tile_place(tiles, number);
    let side = comptime!(SIDE as u32);
    let first = word * OF_WORD;
    let end = (first + OF_WORD).min(regions);
    let mut bits = 0u32;
    for number in first..end {
        let region = planned_region(plans, number, layout);
        let reaches_y = region.y.first < tile.y + side && region.y.end > tile.y;
        let reaches_x = region.x.first < tile.x + side && region.x.end > tile.x;
        if region.level != NO_LEVEL && region.image == tile.image && reaches_y && reaches_x {
            bits |= 1u32 << (number - first) as u32;
        }
    }
    marks[place] = bits;
}

/// The marks of the cube's tile in a word.
///
/// They go through shared memory: WGSL allows a barrier in a loop only where every unit runs it equally often, and
/// cannot see that for what each unit reads of a buffer.
#[cube]
pub fn marks_of_tile(all: &Tensor<u32>, word: usize, tiles: &Tiles, tile: &Tile, kept: &mut Shared<[u32]>) -> u32 {
    if UNIT_POS == 0 {
        kept[0usize] = all[word * tiles.count + tile.number];
    }
    workgroup_uniform_load(&kept[0usize])
}
