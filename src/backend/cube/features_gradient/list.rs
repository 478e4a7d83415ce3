//! The regions that reach a tile, listed in shared memory.

use cubecl::prelude::*;

use super::tile::{SIDE, Tile};
use crate::backend::cube::launch::{Regions, UNITS};
use crate::backend::cube::unit::plan::AxisPlan;
use crate::backend::cube::unit::region::{BoxRow, is_pooled, read_box};
use crate::geometry::real::single::between::Reach;
use crate::geometry::real::single::bins::extent;
use crate::geometry::real::single::integrals;
use crate::geometry::real::single::reach::{elements_of_bins, elements_of_integrals, elements_of_samples};
use crate::geometry::real::single::rules::{Rules, RulesExpand};
use crate::geometry::real::single::samples::axis;

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

/// What the gradient of features is gathered from.
#[derive(CubeType)]
pub struct Gather<'a, F: Float, R: Float, I: Int> {
    pub gradient: &'a Tensor<F>,
    pub regions: &'a Regions<R, I>,
    pub plan: &'a AxisPlan,
    pub tile: &'a Tile,
    /// How many images the features have.
    pub images: usize,
}

#[cube]
pub fn gather<'a, F: Float, R: Float, I: Int>(
    gradient: &'a Tensor<F>,
    regions: &'a Regions<R, I>,
    plan: &'a AxisPlan,
    tile: &'a Tile,
    images: usize,
) -> Gather<'a, F, R, I> {
    Gather::<'a, F, R, I> {
        gradient,
        regions,
        plan,
        tile,
        images,
    }
}

/// The elements of a region that may read pixels.
#[derive(CubeType)]
pub struct ElementRange {
    pub rows: Reach,
    pub columns: Reach,
}

/// The elements of a region that may read pixels of a tile. The output has so many rows and columns.
#[cube]
pub fn elements_reading(rules: &Rules, region: &BoxRow, tile: &Tile, rows: u32, columns: u32) -> ElementRange {
    let side = comptime!(SIDE as u32 - 1);
    let (first_y, last_y) = (tile.first_y, (tile.first_y + side).min(tile.height - 1u32));
    let (first_x, last_x) = (tile.first_x, (tile.first_x + side).min(tile.width - 1u32));
    match rules {
        Rules::Samples(y, x) => {
            let axis_y = axis(y, region.y1, region.y2, rows);
            let axis_x = axis(x, region.x1, region.x2, columns);
            ElementRange {
                rows: elements_of_samples(y, &axis_y, rows, first_y, last_y),
                columns: elements_of_samples(x, &axis_x, columns, first_x, last_x),
            }
        }
        Rules::Bins(y, x) => {
            let extent_y = extent(y, region.y1, region.y2, rows);
            let extent_x = extent(x, region.x1, region.x2, columns);
            ElementRange {
                rows: elements_of_bins(&extent_y, rows, first_y, last_y),
                columns: elements_of_bins(&extent_x, columns, first_x, last_x),
            }
        }
        Rules::Integrals(y, x) => {
            let extent_y = integrals::extent(y, region.y1, region.y2, rows);
            let extent_x = integrals::extent(x, region.x1, region.x2, columns);
            ElementRange {
                rows: elements_of_integrals(&extent_y, rows, first_y, last_y),
                columns: elements_of_integrals(&extent_x, columns, first_x, last_x),
            }
        }
    }
}

/// Lists those of the next [`UNITS`] regions from `first` on that may reach the tile, in their order, and returns how
/// many they are. Every unit looks at one region.
#[cube]
pub fn list_regions<F: Float, R: Float, I: Int>(
    gather: &Gather<'_, F, R, I>,
    first: usize,
    list: &mut RegionList,
) -> u32 {
    let (plan, tile, gradient) = (gather.plan, gather.tile, gather.gradient);
    let box_format = comptime!(plan.settings.box_format);
    let unit = UNIT_POS as usize;
    let row = first + unit;
    let mut flag = 0u32;
    if row < gather.regions.boxes.shape(0) {
        let region = read_box(gather.regions, row, gather.images, box_format);
        if region.image == tile.image && is_pooled(&region, plan) {
            let (rows, columns) = (gradient.shape(2) as u32, gradient.shape(3) as u32);
            let elements = elements_reading(&plan.rules, &region, tile, rows, columns);
            if elements.rows.first < elements.rows.end && elements.columns.first < elements.columns.end {
                flag = 1u32;
            }
        }
    }
    list_flagged(flag, row, list)
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
