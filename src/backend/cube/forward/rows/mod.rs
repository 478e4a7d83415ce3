//! The kernel that pools by rows: neighbouring units read neighbouring pixels.
//!
//! A cube of units pools a region in some blocks of channels, a few rows of the output at a time. A unit takes a column
//! of the map in a block of channels, so that neighbours read a row together. It reduces the column along y, for each
//! row of the output ([`along_y`]). These results stay in shared memory, from where they are reduced along x
//! ([`along_x`]).

mod along_x;
mod along_y;

use cubecl::prelude::*;
use cubecl::std::FastDivmod;

use crate::backend::cube::plan::layout::{NO_LEVEL, PlanLayout, PlannedRegion, planned_region};
use crate::backend::cube::unit::blocks::reduced;
use crate::backend::cube::unit::channels::Layout;
use crate::geometry::options::Reduction;
use along_x::reduce_elements;
use along_y::{NO_ROW, no_pixels, reduce_columns};

/// How many units a cube has.
pub const UNITS: usize = 128;

/// How many rows of the output are reduced at a time. In blocks of eight channels their results take 16 KiB of shared
/// memory, as much as WebGPU promises.
const ROWS: usize = 4;

/// How many elements of a row are reduced at a time where they read more columns than a cube has units. All columns are
/// reduced along y again for the next of them: a crop of 224 x 224 points from 448 columns reads six times as many
/// pixels as by elements.
pub const ELEMENTS: usize = UNITS / ROWS;

/// How the output is divided among cubes.
#[derive(CubeType, CubeLaunch)]
pub struct RowCubes {
    /// How many regions are pooled, and the row of the first.
    pub regions: FastDivmod<usize>,
    pub first: usize,
    /// How many blocks of channels there are, and how many a cube pools.
    pub blocks: usize,
    pub blocks_of_cube: usize,
    pub total: usize,
    /// The columns of the output.
    columns: FastDivmod<u32>,
    /// Where a sum or a maximum starts.
    pub start: f32,
    /// The value of an element without pixels, and of a sample out of bounds.
    pub outside: f32,
    #[cube(comptime)]
    pub layout: Layout,
    #[cube(comptime)]
    pub reduction: Reduction,
    /// Whether it is also written where maxima were read.
    #[cube(comptime)]
    pub finds_positions: bool,
}

/// The position of a maximum that was not read from the map.
pub const NOWHERE: u32 = u32::MAX;

/// The results of a block of channels, and where these were read, as the number of a pixel on its map.
#[derive(CubeType)]
pub struct Results {
    values: Array<f32>,
    positions: Array<u32>,
}

#[cube]
fn no_results(#[comptime] of_block: usize) -> Results {
    Results {
        values: Array::<f32>::new(of_block),
        positions: Array::<u32>::new(of_block),
    }
}

/// What the units of a cube share.
#[derive(CubeType)]
struct Pool<'a> {
    plans: &'a Tensor<u32>,
    cubes: &'a RowCubes,
    layout: &'a PlanLayout,
    region: &'a PlannedRegion,
    /// The row of the output.
    row: usize,
    /// The first block of channels, and the one after the last.
    first_block: u32,
    end_block: u32,
    /// How many columns of pixels the region reads, and how many of them are kept at once.
    columns: u32,
    kept: u32,
    /// Whether these are the taps of elements, where fewer of them are than columns of the window.
    are_taps: bool,
    /// In how many blocks of channels columns are kept, and how many columns of elements are then reduced from them.
    blocks: u32,
    elements: u32,
}

#[cube]
fn pool<'a>(
    plans: &'a Tensor<u32>,
    cubes: &'a RowCubes,
    layout: &'a PlanLayout,
    region: &'a PlannedRegion,
    pass: usize,
    number: usize,
    kept: &mut Shared<[u32]>,
) -> Pool<'a> {
    let most = comptime!(UNITS as u32).runtime();
    let first_block = pass * cubes.blocks_of_cube;
    let mut end_block = (first_block + cubes.blocks_of_cube).min(cubes.blocks);
    if region.level == NO_LEVEL {
        end_block = first_block;
    }
    let of_window = region.x.end - region.x.first;
    let taps = layout.x.elements * layout.x.of_element;
    let are_taps = layout.x.of_element > 0u32 && taps < of_window;
    let columns = select(are_taps, taps, of_window);
    // WGSL allows a barrier in a loop only where every unit runs it equally often, and cannot see that for what units
    // read of a plan.
    if UNIT_POS == 0u32 {
        kept[0usize] = columns;
        kept[1usize] = end_block as u32;
    }
    let columns = workgroup_uniform_load(&kept[0usize]);
    let end_block = workgroup_uniform_load(&kept[1usize]);
    // A region without pixels has no columns.
    let kept = columns.clamp(1u32, most);
    // Elements that read more columns than are kept are reduced in several steps, each by one unit.
    let elements = select(columns > kept, comptime!(ELEMENTS as u32).runtime(), layout.x.elements);
    Pool::<'a> {
        plans,
        cubes,
        layout,
        region,
        row: cubes.first + number,
        first_block: first_block as u32,
        end_block,
        columns,
        kept,
        are_taps,
        blocks: most / kept,
        elements: elements.min(layout.x.elements),
    }
}

/// What is reduced in a step.
#[derive(CubeType)]
struct Step {
    /// The first block of channels, and the first row and column of elements.
    block: u32,
    row: u32,
    column: u32,
    /// The first of the kept columns of pixels.
    pixels: u32,
    /// Whether others are left for these elements.
    is_left: bool,
}

/// Pools regions. Where the maxima of bins were read on one map goes into `positions`, if there is such a tensor.
#[cube(launch, address_type = "dynamic")]
pub fn pool_rows<F: Float>(
    levels: &Sequence<OwnedTensor<F>>,
    plans: &Tensor<u32>,
    output: &mut Tensor<F>,
    positions: &mut Sequence<OwnedTensor<u32>>,
    cubes: &RowCubes,
    layout: &PlanLayout,
    #[define(F)] _dtype: cubecl::ir::ElemType,
) {
    if CUBE_POS >= cubes.total {
        terminate!();
    }
    let of_block = comptime!(cubes.layout.of_block);
    let (pass, number) = cubes.regions.div_mod(CUBE_POS);
    let region = planned_region(plans, number, layout);
    // The bits of results, and behind them their positions.
    let words = comptime!(UNITS * ROWS * of_block * (1 + cubes.finds_positions as usize));
    let mut kept = Shared::<[u32]>::new_slice(words);
    let pool = pool(plans, cubes, layout, &region, pass, number, &mut kept);
    // Kept from step to step, while columns are left.
    let mut results = no_results(of_block);
    let mut even = no_pixels(of_block);
    let mut odd = no_pixels(of_block);
    let mut step = Step {
        block: pool.first_block,
        row: 0u32,
        column: 0u32,
        pixels: 0u32,
        is_left: false,
    };
    while step.block < pool.end_block {
        // What is kept has been read by now.
        sync_cube();
        reduce_columns(levels, &pool, &step, &mut even, &mut odd, &mut kept);
        sync_cube();
        step.is_left = step.pixels + pool.kept < pool.columns;
        reduce_elements(output, positions, &pool, &step, &mut results, &kept);
        step.pixels += pool.kept;
        if !step.is_left {
            step.pixels = 0u32;
            step.column += pool.elements;
        }
        if step.column >= layout.x.elements {
            step.column = 0u32;
            step.row += comptime!(ROWS as u32);
        }
        if step.row >= layout.y.elements {
            step.row = 0u32;
            step.block += pool.blocks;
        }
        // A unit has another column then.
        if step.row == 0u32 || pool.kept < pool.columns {
            even.row = NO_ROW;
            odd.row = NO_ROW;
        }
    }
}

/// Sets what a sum or a maximum starts from.
#[cube]
fn start(results: &mut Results, cubes: &RowCubes) {
    #[unroll]
    for channel in 0..comptime!(cubes.layout.of_block) {
        results.values[channel] = cubes.start;
        results.positions[channel] = NOWHERE;
    }
}

/// Where the result of a row lies in a unit's column and the first channel of its block.
///
/// The bound changes nothing. But LLVM, which compiles for CUDA and ROCm, has to know that no index wraps before it
/// reads all channels from one address.
#[cube]
fn place_in_kept(row: u32, unit: u32) -> usize {
    (row * comptime!(UNITS as u32) + unit).min(comptime!((ROWS * UNITS - 1) as u32)) as usize
}

/// Adds weighted numbers to sums, or compares them with maxima.
#[cube]
fn reduce(results: &mut Results, numbers: &Array<f32>, weight: f32, cubes: &RowCubes) {
    #[unroll]
    for channel in 0..comptime!(cubes.layout.of_block) {
        results.values[channel] = reduced(
            results.values[channel],
            numbers[channel],
            weight,
            comptime!(cubes.reduction),
        );
    }
}

/// Compares a number that was read at a position with the maximum of a channel. Of equal numbers the first counts, row
/// by row: where positions do not ascend, `is_first` says whether this one comes before that of the maximum.
#[cube]
fn compare(results: &mut Results, number: f32, position: u32, is_first: bool, #[comptime] channel: usize) {
    let maximum = results.values[channel];
    let wins = number > maximum || (number == maximum && is_first);
    results.values[channel] = select(wins, number, maximum);
    results.positions[channel] = select(wins, position, results.positions[channel]);
}
