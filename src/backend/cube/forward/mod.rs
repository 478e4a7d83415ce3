//! The forward pass.
//!
//! - [`rows`]: averages, and maxima of whole pixels, from plans. [`elements`]: the same, where rows do not serve.
//! - [`samples`]: maxima of samples. [`points`]: the kernel of point plans.

mod elements;
mod points;
mod rows;
mod samples;

use std::ops::Range;

use burn::backend::TensorMetadata;
use burn::backend::cubecl::dtype_to_storage_type;
use burn::tensor::DType;
use burn_cubecl::CubeBackend;
use burn_cubecl::tensor::CubeTensor;
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;

use super::launch::{UNITS, dtypes, grid, launch, output};
use super::plan::Planner;
use super::unit::channels::{BLOCKS, Layout};
use super::unit::element::units;
use super::unit::plan::{point_plan, reduction, reduction_plan};
use crate::backend::RegionCall;
use crate::geometry::operator::{ChannelMap, Elements, RegionOperator};
use crate::geometry::options::Reduction;
use elements::pool_elements;
use points::pool_points;
use rows::{RowCubesLaunch, pool_rows};
use samples::pool_maxima;

pub use rows::NOWHERE;

/// More than three times as many cubes as a large GPU holds at once: by their registers, 9 on each of the 132
/// multiprocessors of an H200. Where there would be more, a cube pools several blocks of channels.
const ENOUGH_CUBES: usize = 1 << 12;

/// Pools one map, or levels of a pyramid, each by its operator: into `pooled`, which has the results of other levels,
/// or into a new output. `call` is that of the first of them.
pub fn pool(
    pooled: Option<CubeTensor>,
    levels: Vec<CubeTensor>,
    operators: &[RegionOperator],
    call: RegionCall<CubeBackend>,
) -> CubeTensor {
    let first = &levels[0];
    let output = match pooled {
        Some(pooled) if pooled.can_mut() => pooled,
        Some(pooled) => pooled.copy(),
        None => output(first, call.output_shape(), first.dtype),
    };
    match (call.operator.elements, call.operator.reduction) {
        (Elements::Points(_), _) => pool_by_units(output, levels, operators, call),
        (Elements::Samples(_), reduction) if reduction != Reduction::Average => {
            pool_by_units(output, levels, operators, call)
        }
        _ => pool_by_plans(output, vec![], levels, operators, call),
    }
}

/// Pools one map by an operator that takes maxima of pixels. Returns besides where each was read, `[K, C, P, Q]`.
pub fn pool_with_positions(features: CubeTensor, call: RegionCall<CubeBackend>) -> (CubeTensor, CubeTensor) {
    let [pooled, positions] = [features.dtype, DType::U32].map(|dtype| output(&features, call.output_shape(), dtype));
    let operators = [call.operator];
    let pooled = pool_by_plans(pooled, vec![positions.clone()], vec![features], &operators, call);
    (pooled, positions)
}

/// Pools by kernels whose units read regions themselves.
fn pool_by_units(
    output: CubeTensor,
    levels: Vec<CubeTensor>,
    operators: &[RegionOperator],
    call: RegionCall<CubeBackend>,
) -> CubeTensor {
    let shape = call.output_shape();
    // On one map, the kernel of samples takes 128 registers for one block of channels as for four. That of points takes
    // fewer for one, so that more units run at once.
    let blocks = match call.operator.elements {
        Elements::Samples(_) => BLOCKS,
        _ => 1,
    };
    let layout = Layout::new(shape[1], blocks, call.operator.channel_map, &levels);
    let (units, total) = units(shape.dims(), layout);
    // The size of a cube is compiled in. It is fixed, so that another number of regions compiles nothing.
    let cube_size = CubeDim::new(&output.client, u32::MAX as usize);
    let grid = (
        calculate_cube_count_elemwise(&output.client, total, cube_size),
        cube_size,
    );
    let dtypes = dtypes(&levels[0], &call);
    let of_levels = operators.iter().zip(&levels);
    if let Elements::Points(_) = call.operator.elements {
        let plans = of_levels.map(|(operator, _)| point_plan(operator)).collect();
        launch!(pool_points, grid, [levels, call, output] => output, units, plans, dtypes);
        return output;
    }
    let plans = of_levels.map(|(operator, level)| reduction_plan(operator, map_size(level), false));
    let plans = plans.collect();
    launch!(pool_maxima, grid, [levels, call, output] => output, units, plans, dtypes);
    output
}

/// Pools by kernels that read the plan of the call, and writes where maxima of pixels were read into `positions`, if
/// there is such a tensor.
fn pool_by_plans(
    output: CubeTensor,
    positions: Vec<CubeTensor>,
    levels: Vec<CubeTensor>,
    operators: &[RegionOperator],
    call: RegionCall<CubeBackend>,
) -> CubeTensor {
    let planner = Planner::new(&call, operators, levels.iter().map(map_size).collect());
    let [_, channels, rows, columns] = call.output_shape().dims();
    let mut layout = Layout::new(channels, 1, call.operator.channel_map, &levels);
    if !positions.is_empty() {
        layout = layout.with_positions();
    }
    let dtype = dtype_to_storage_type(output.dtype);
    let (reduction, start) = reduction(&call.operator);
    let outside = call.operator.value_without_pixels() as f32;
    let is_cpu = matches!(output.device, cubecl::Device::Cpu(_));
    let by_elements = (is_cpu || planner.repeats_columns(rows::UNITS, rows::ELEMENTS)) && positions.is_empty()
        || call.operator.channel_map == ChannelMap::PositionSensitive;
    for part in planner.parts() {
        let plans = planner.plan(part.clone());
        if by_elements {
            let (units, total) = units([part.len(), channels, rows, columns], layout);
            let grid = grid(total.div_ceil(UNITS), UNITS);
            launch!(
                pool_elements, grid, [levels, plans, output] => output,
                units, planner.layout(), part.start, start, outside, reduction, dtype
            );
        } else {
            let (row_cubes, total) = row_cubes(part, &call, layout, !positions.is_empty());
            let (grid, layout) = (grid(total, rows::UNITS), planner.layout());
            launch!(pool_rows, grid, [levels, plans, output, positions] => output, row_cubes, layout, dtype);
        }
    }
    output
}

/// The height and width of a level.
fn map_size(level: &CubeTensor) -> [usize; 2] {
    let [_, _, height, width] = level.shape().dims();
    [height, width]
}

/// How the rows of the output are divided among cubes, for the regions of these rows, and how many cubes there are.
fn row_cubes(
    part: Range<usize>,
    call: &RegionCall<CubeBackend>,
    layout: Layout,
    finds_positions: bool,
) -> (RowCubesLaunch, usize) {
    let [_, channels, _, columns] = call.output_shape().dims();
    let blocks = channels.div_ceil(layout.of_block);
    let blocks_of_cube = (part.len() * blocks / ENOUGH_CUBES)
        .next_power_of_two()
        .clamp(1, blocks);
    let total = part.len() * blocks.div_ceil(blocks_of_cube);
    let (reduction, start) = reduction(&call.operator);
    let cubes = RowCubesLaunch::new(
        part.len(),
        part.start,
        blocks,
        blocks_of_cube,
        total,
        columns as u32,
        start,
        call.operator.value_without_pixels() as f32,
        layout,
        reduction,
        finds_positions,
    );
    (cubes, total)
}
