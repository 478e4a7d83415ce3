//! The forward pass: a unit computes an output element in up to 32 channels.
//!
//! - [`axes`]: the kernel of axis plans, whose elements read [`samples`], [`bins`] or [`integrals`]. [`pairs`] joins
//!   samples that share pixels.
//! - [`points`]: the kernel of point plans.

mod axes;
mod bins;
mod integrals;
mod pairs;
mod points;
mod samples;

use burn::backend::TensorMetadata;
use burn_cubecl::CubeBackend;
use burn_cubecl::tensor::CubeTensor;
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;

use super::launch::{launch, output};
use super::unit::channels::{BLOCKS, Layout};
use super::unit::element::units;
use super::unit::plan::{point_plan, reduction_plan};
use crate::backend::RegionCall;
use crate::geometry::operator::{Elements, RegionOperator};
use axes::pool_regions;
use points::pool_points;

/// Pools one map, or levels of a pyramid, each by its operator: into `pooled`, which has the results of other levels,
/// or into a new output. `call` is that of the first of them.
pub fn pool(
    pooled: Option<CubeTensor>,
    levels: Vec<CubeTensor>,
    operators: &[RegionOperator],
    call: RegionCall<CubeBackend>,
) -> CubeTensor {
    let (first, shape) = (&levels[0], call.output_shape());
    let output = match pooled {
        Some(pooled) if pooled.can_mut() => pooled,
        Some(pooled) => pooled.copy(),
        None => output(first, shape.clone(), first.dtype),
    };
    // On one map, the kernel of samples takes 128 registers for one block of channels as for four. The others take
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
    let of_levels = operators.iter().zip(&levels);
    if let Elements::Points(_) = call.operator.elements {
        let plans = of_levels.map(|(operator, _)| point_plan(operator)).collect();
        return launch!(pool_points, grid, levels levels, call => output, units, plans);
    }
    let plans = of_levels.map(|(operator, level)| {
        let [_, _, height, width] = level.shape().dims();
        reduction_plan(operator, [height, width], false)
    });
    let plans = plans.collect();
    launch!(pool_regions, grid, levels levels, call => output, units, plans)
}
