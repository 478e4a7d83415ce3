//! The gradient of boxes, angles and offsets: a cube owns a region. Its units sum in one order, so that the same call
//! gives the same bits.
//!
//! - [`boxes`]: the kernel of axis plans. [`samples`] and [`integrals`]: the derivative of an element by the ends of
//!   its box. [`slope`]: the derivative of a sample by its position.
//! - [`points`]: the kernel of point plans.
//! - [`ends`]: sums over the units of a cube.

mod boxes;
mod ends;
mod integrals;
mod points;
mod samples;
mod slope;

use burn::backend::TensorMetadata;
use burn_cubecl::CubeBackend;
use burn_cubecl::tensor::CubeTensor;

use super::launch::{UNITS, dtypes, grid, launch, output};
use super::unit::plan::{point_plan, reduction_plan};
use crate::backend::RegionCall;
use crate::geometry::operator::Elements;
use boxes::pull_boxes;
use points::pull_points;

/// The gradient of regions, `[K, columns]`.
pub fn regions_gradient(gradient: CubeTensor, features: CubeTensor, call: RegionCall<CubeBackend>) -> CubeTensor {
    let output = output(&gradient, call.boxes.shape(), call.boxes.dtype);
    let [_, _, height, width] = call.features_shape;
    let grid = grid(call.boxes.shape()[0], UNITS);
    let operator = call.operator;
    let dtypes = dtypes(&gradient, &call);
    match operator.elements {
        Elements::Points(_) => {
            let plan = point_plan(&operator);
            launch!(pull_points, grid, [gradient, features, call, output] => output, plan, dtypes);
        }
        _ => {
            let plan = reduction_plan(&operator, [height, width], true);
            launch!(pull_boxes, grid, [gradient, features, call, output] => output, plan, dtypes);
        }
    }
    output
}
