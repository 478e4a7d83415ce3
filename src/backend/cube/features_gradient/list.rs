//! The regions that reach a tile, listed in shared memory.

use cubecl::prelude::*;

use super::tile::{SIDE, Tile};
use crate::backend::cube::launch::UNITS;
use crate::backend::cube::plan::layout::{NO_LEVEL, PlanLayout, planned_region};

/// The length of [`RegionList::flags`].
pub const FLAGS: usize = UNITS + SIDE;

/// The length of [`RegionList::rows`].
///
/// Mesa's llvmpipe runs one masked iteration too many and still loads. So the word behind the list must be a valid row,
/// and is 0.
pub const ROWS: usize = UNITS + 2;

/// Where in the list it stands how many rows are listed.
const COUNT: usize = ROWS - 1;

/// The rows of regions that may reach a tile.
#[derive(CubeType)]
pub struct RegionList {
    /// A flag for each unit, and how many are set in each row of the square of units.
    flags: Shared<[u32]>,
    /// A row for each unit, a 0 behind them, and how many rows are listed.
    pub rows: Shared<[u32]>,
}

#[cube]
pub fn region_list() -> RegionList {
    RegionList {
        flags: Shared::<[u32]>::new_slice(FLAGS),
        rows: Shared::<[u32]>::new_slice(ROWS),
    }
}

/// Lists those of the next [`UNITS`] planned regions from `first` on that may reach the tile, in their order, and
/// returns how many they are. Every unit looks at one region.
#[cube]
pub fn list_regions(
    plans: &Tensor<u32>,
    layout: &PlanLayout,
    tile: &Tile,
    regions: usize,
    first: usize,
    list: &mut RegionList,
) -> u32 {
    let number = first + UNIT_POS as usize;
    let mut flag = 0u32;
    if number < regions {
        let region = planned_region(plans, number, layout);
        let side = comptime!(SIDE as u32);
        let reaches_y = region.y.first < tile.first_y + side && region.y.end > tile.first_y;
        let reaches_x = region.x.first < tile.first_x + side && region.x.end > tile.first_x;
        if region.level != NO_LEVEL && region.image == tile.image && reaches_y && reaches_x {
            flag = 1u32;
        }
    }
    list_flagged(flag, number, list)
}

/// Lists the rows of those units whose flag is 1, in the order of units, and returns how many they are.
///
/// A unit adds up the flags before its own: those of whole rows of a square of units first, which are added up once,
/// then those of its own row. The total goes through shared memory, in the list. WGSL allows a barrier in a loop
/// only where every unit runs it equally often, and cannot see that for a number that each unit has counted.
#[cube]
pub fn list_flagged(flag: u32, row: usize, list: &mut RegionList) -> u32 {
    let unit = UNIT_POS as usize;
    // What the units before have listed is read by now.
    sync_cube();
    list.flags[unit] = flag;
    list.rows[unit] = 0u32;
    sync_cube();
    if unit < SIDE {
        let mut of_row = 0u32;
        for other in 0..SIDE {
            of_row += list.flags[unit * SIDE + other];
        }
        list.flags[UNITS + unit] = of_row;
    }
    sync_cube();
    let own = unit / SIDE;
    let mut before = 0u32;
    for other in 0..own {
        before += list.flags[UNITS + other];
    }
    for other in own * SIDE..unit {
        before += list.flags[other];
    }
    if flag == 1u32 {
        list.rows[before as usize] = row as u32;
    }
    if unit == UNITS - 1 {
        list.rows[UNITS] = 0u32;
        list.rows[COUNT] = before + flag;
    }
    workgroup_uniform_load(&list.rows[COUNT])
}
