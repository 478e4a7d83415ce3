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
use burn_cubecl::tensor::CubeTensor;
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;

use super::launch::{launch, output};
use super::unit::channels::{BLOCKS, Layout};
use super::unit::element::units;
use super::unit::plan::{point_plan, reduction_plan};
use crate::backend::output_shape;
use crate::geometry::operator::{Elements, RegionOperator};
use axes::pool_regions;
use points::pool_points;

/// Pools a call, or a level of a pyramid, of which `pooled` is what other levels have pooled.
pub fn pool(
    pooled: Option<CubeTensor>,
    features: CubeTensor,
    boxes: CubeTensor,
    batch_indices: CubeTensor,
    operator: &RegionOperator,
) -> CubeTensor {
    let shape = output_shape(&features.shape(), &boxes.shape(), operator);
    let output = match pooled {
        Some(pooled) if pooled.can_mut() => pooled,
        Some(pooled) => pooled.copy(),
        None => output(&features, shape.clone(), features.dtype),
    };
    // The kernel of samples takes 128 registers for one block of channels as for four. The others take fewer for one,
    // so that more units run at once.
    let blocks = match operator.elements {
        Elements::Samples(_) => BLOCKS,
        _ => 1,
    };
    let layout = Layout::new(shape[1], blocks, operator.channel_map, &features);
    let (units, total) = units(shape.dims(), layout);
    // The size of a cube is compiled in. It is fixed, so that another number of regions compiles nothing.
    let cube_size = CubeDim::new(&features.client, u32::MAX as usize);
    let cubes = calculate_cube_count_elemwise(&features.client, total, cube_size);
    let [_, _, height, width] = features.shape().dims();
    match &operator.elements {
        Elements::Points(grid) => {
            let plan = point_plan(operator, grid);
            launch!(pool_points, (cubes, cube_size), [features], boxes, batch_indices => output, units, plan)
        }
        _ => {
            let plan = reduction_plan(operator, [height, width], false);
            launch!(pool_regions, (cubes, cube_size), [features], boxes, batch_indices => output, units, plan)
        }
    }
}
