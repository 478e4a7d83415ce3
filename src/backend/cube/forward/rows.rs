//! The kernel that pools by rows: neighbouring units read neighbouring pixels.
//!
//! A cube of units pools a region in some blocks of channels, a few rows of the output at a time. A unit takes a column
//! of the map in a block of channels, so that neighbours read a row together. It reduces the column along y, for each
//! row of the output. These results stay in shared memory, from where they are reduced along x.

use cubecl::prelude::*;
use cubecl::std::FastDivmod;

use crate::backend::cube::plan::layout::{
    NO_LEVEL, PlanLayout, PlannedElement, PlannedRegion, planned_element, planned_region, weight_of_tap,
};
use crate::backend::cube::unit::blocks::{add_outside_to_results, reduced};
use crate::backend::cube::unit::channels::{Layout, Planes, pixel_in_planes};
use crate::geometry::options::Reduction;

/// How many units a cube has.
pub const UNITS: usize = 128;

/// How many rows of the output are reduced at a time. In blocks of eight channels their results take 16 KiB of shared
/// memory, as much as WebGPU promises.
const ROWS: usize = 4;

/// No row of the map.
const NO_ROW: u32 = u32::MAX;

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
    let elements = select(columns > kept, most / comptime!(ROWS as u32), layout.x.elements);
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

/// The last pixels that a unit has read in its column and channels, of an even row of the map or of an odd one. An
/// element reads up to two of the rows that the one before has read.
#[derive(CubeType)]
struct LastPixels {
    row: u32,
    pixels: Array<f32>,
}

#[cube]
fn no_pixels(#[comptime] of_block: usize) -> LastPixels {
    LastPixels {
        row: NO_ROW,
        pixels: Array::<f32>::new(of_block),
    }
}

#[cube(launch, address_type = "dynamic")]
pub fn pool_rows<F: Float>(
    levels: &Sequence<OwnedTensor<F>>,
    plans: &Tensor<u32>,
    output: &mut Tensor<F>,
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
    // The bits of results.
    let mut kept = Shared::<[u32]>::new_slice(comptime!(UNITS * ROWS * of_block));
    let pool = pool(plans, cubes, layout, &region, pass, number, &mut kept);
    // Kept from step to step, while columns are left.
    let mut results = Array::<f32>::new(of_block);
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
        reduce_elements(output, &pool, &step, &mut results, &kept);
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
fn start(results: &mut Array<f32>, cubes: &RowCubes) {
    #[unroll]
    for channel in 0..comptime!(cubes.layout.of_block) {
        results[channel] = cubes.start;
    }
}

/// Reduces the column of this unit along y, for the rows of a step, and keeps the results.
#[cube]
fn reduce_columns<F: Float>(
    levels: &Sequence<OwnedTensor<F>>,
    pool: &Pool<'_>,
    step: &Step,
    even: &mut LastPixels,
    odd: &mut LastPixels,
    kept: &mut Shared<[u32]>,
) {
    let (block, number) = (UNIT_POS / pool.kept, UNIT_POS % pool.kept);
    let (block_of_cube, number) = (step.block + block, step.pixels + number);
    if block < pool.blocks && block_of_cube < pool.end_block && number < pool.columns {
        let mut column = pool.region.x.first + number;
        if pool.are_taps {
            column = pool.plans[pool.region.start + (pool.layout.x.taps + 2u32 * number) as usize];
        }
        let levels_of_call = comptime!(levels.len());
        #[unroll]
        for level in 0..levels_of_call {
            if comptime!(levels_of_call == 1) || pool.region.level == comptime!(level as u32) {
                let features = levels.index(level);
                let planes = planes(features, pool, block_of_cube, column);
                let end = (step.row + comptime!(ROWS as u32)).min(pool.layout.y.elements);
                for row in step.row..end {
                    let element = planned_element(pool.plans, pool.region.start, &pool.layout.y, row);
                    reduce_column(features, pool, &planes, row - step.row, &element, even, odd, kept);
                }
            }
        }
    }
}

/// Where a column of the map lies in a block of channels.
#[cube]
fn planes<F: Float>(features: &Tensor<F>, pool: &Pool<'_>, block: u32, column: u32) -> Planes {
    let of_block = comptime!(pool.cubes.layout.of_block);
    // The last block ends at the last channel.
    let first = (block as usize * of_block).min(features.shape(1) - of_block);
    let of_image = pool.region.image * features.stride(0);
    Planes {
        start: of_image + first * features.stride(1) + column as usize * features.stride(3),
        step: features.stride(1),
    }
}

/// Reduces what an element reads of a column of the map, and keeps it as the result of a row.
#[cube]
fn reduce_column<F: Float>(
    features: &Tensor<F>,
    pool: &Pool<'_>,
    planes: &Planes,
    row: u32,
    element: &PlannedElement,
    even: &mut LastPixels,
    odd: &mut LastPixels,
    kept: &mut Shared<[u32]>,
) {
    let layout = comptime!(pool.cubes.layout);
    let of_block = comptime!(layout.of_block);
    let reduction = comptime!(pool.cubes.reduction);
    let mut results = Array::<f32>::new(of_block);
    start(&mut results, pool.cubes);
    for tap in 0..element.taps {
        let word = element.start + 2usize * tap as usize;
        let pixel = pool.plans[word];
        let weight = weight_of_tap(pool.plans, word);
        if pixel & 1u32 == 0u32 {
            read_pixels(features, planes, pixel, even, layout);
            reduce(&mut results, &even.pixels, weight, of_block, reduction);
        } else {
            read_pixels(features, planes, pixel, odd, layout);
            reduce(&mut results, &odd.pixels, weight, of_block, reduction);
        }
    }
    let place = place_in_kept(row, UNIT_POS);
    #[unroll]
    for channel in 0..of_block {
        kept[place + comptime!(channel * ROWS * UNITS)] = u32::reinterpret(results[channel]);
    }
}

/// Reads the pixels of a row of the map, unless they are the last that were read.
#[cube]
fn read_pixels<F: Float>(
    features: &Tensor<F>,
    planes: &Planes,
    row: u32,
    last: &mut LastPixels,
    #[comptime] layout: Layout,
) {
    if row != last.row {
        last.row = row;
        let place = pixel_in_planes(planes, row as usize * features.stride(2), layout);
        #[unroll]
        for channel in 0..comptime!(layout.of_block) {
            last.pixels[channel] = f32::cast_from(features[place.start + channel * place.step]);
        }
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
fn reduce(
    results: &mut Array<f32>,
    numbers: &Array<f32>,
    weight: f32,
    #[comptime] of_block: usize,
    #[comptime] reduction: Reduction,
) {
    #[unroll]
    for channel in 0..of_block {
        results[channel] = reduced(results[channel], numbers[channel], weight, reduction);
    }
}

/// Reduces what is kept along x, for the elements of a step, and writes those of which nothing is left.
#[cube]
fn reduce_elements<F: Float>(
    output: &mut Tensor<F>,
    pool: &Pool<'_>,
    step: &Step,
    results: &mut Array<f32>,
    kept: &Shared<[u32]>,
) {
    let rows = comptime!(ROWS as u32);
    let mut item = UNIT_POS;
    while item < pool.blocks * rows * pool.elements {
        let (mut rest, mut column) = pool.cubes.columns.div_mod(item);
        if pool.elements < pool.layout.x.elements {
            rest = item / pool.elements;
            column = item % pool.elements;
        }
        column += step.column;
        let (block, row) = (rest / rows, rest % rows);
        let (block_of_cube, row_of_output) = (step.block + block, step.row + row);
        if block_of_cube < pool.end_block && row_of_output < pool.layout.y.elements && column < pool.layout.x.elements {
            let element = planned_element(pool.plans, pool.region.start, &pool.layout.x, column);
            if step.pixels == 0u32 {
                start(results, pool.cubes);
            }
            reduce_element(pool, &element, step.pixels, row, block * pool.kept, results, kept);
            if !step.is_left {
                let of_row = planned_element(pool.plans, pool.region.start, &pool.layout.y, row_of_output);
                let share = of_row.share * element.share;
                write_element(output, pool, block_of_cube, row_of_output, column, share, results);
            }
        }
        item += comptime!(UNITS as u32);
    }
}

/// Reduces what an element reads of the columns from `pixels` on, which units from `first` on have kept.
#[cube]
fn reduce_element(
    pool: &Pool<'_>,
    element: &PlannedElement,
    pixels: u32,
    row: u32,
    first: u32,
    results: &mut Array<f32>,
    kept: &Shared<[u32]>,
) {
    let of_block = comptime!(pool.cubes.layout.of_block);
    let mut columns = Array::<f32>::new(of_block);
    for tap in 0..element.taps {
        let word = element.start + 2usize * tap as usize;
        let mut number = element.number + tap;
        if !pool.are_taps {
            number = pool.plans[word] - pool.region.x.first;
        }
        // Columns before these have huge numbers in a u32.
        let number = number - pixels;
        if number < pool.kept {
            let place = place_in_kept(row, first + number);
            #[unroll]
            for channel in 0..of_block {
                columns[channel] = f32::reinterpret(kept[place + comptime!(channel * ROWS * UNITS)]);
            }
            let weight = weight_of_tap(pool.plans, word);
            reduce(results, &columns, weight, of_block, pool.cubes.reduction);
        }
    }
}

/// Writes an element in a block of channels. `share` is how much of it lies on the map.
#[cube]
fn write_element<F: Float>(
    output: &mut Tensor<F>,
    pool: &Pool<'_>,
    block: u32,
    row: u32,
    column: u32,
    share: f32,
    results: &mut Array<f32>,
) {
    let cubes = pool.cubes;
    let of_block = comptime!(cubes.layout.of_block);
    let wanted = block as usize * of_block;
    let first = wanted.min(output.shape(1) - of_block);
    // These channels are those of the block before, which writes them.
    let overlap = wanted - first;
    let step = output.stride(1);
    let of_element = row as usize * output.stride(2) + column as usize * output.stride(3);
    let place = pool.row * output.stride(0) + first * step + of_element;
    add_outside_to_results(results, share, cubes.outside, of_block, cubes.reduction);
    // One comparison a block, and not one a channel, where channels divide into blocks.
    if overlap == 0usize {
        write_channels(output, place, step, 0usize, results, of_block, false);
    } else {
        write_channels(output, place, step, overlap, results, of_block, true);
    }
}

#[cube]
fn write_channels<F: Float>(
    output: &mut Tensor<F>,
    place: usize,
    step: usize,
    overlap: usize,
    results: &mut Array<f32>,
    #[comptime] of_block: usize,
    #[comptime] overlaps: bool,
) {
    #[unroll]
    for channel in 0..of_block {
        if comptime!(!overlaps) || channel >= overlap {
            output[place + channel * step] = F::cast_from(results[channel]);
        }
    }
}
