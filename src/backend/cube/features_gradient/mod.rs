//! The gradient of features: a gather without atomics, so that the same call returns the same bits. A unit owns a pixel
//! in a few channels.
//!
//! - [`tile`]: the pixels that a cube of units owns. [`list`]: the regions that reach them.
//! - [`axes`]: the kernel of axis plans. [`weights`]: the weights of a tile's rows and columns in the elements of
//!   regions. [`maximum`]: where each maximum was read, which a launch before it finds.
//! - [`points`]: the kernel of point plans.

mod axes;
mod list;
mod maximum;
mod points;
mod tile;
mod weights;

use burn::backend::TensorMetadata;
use burn::tensor::{DType, Shape};
use burn_cubecl::CubeBackend;
use burn_cubecl::tensor::CubeTensor;

use super::launch::{UNITS, grid, launch, output};
use super::unit::channels::CHANNELS;
use super::unit::plan::{axis_plan, point_plan, reduction_plan};
use crate::backend::RegionCall;
use crate::geometry::operator::Elements;
use axes::gather_axes;
use maximum::{PLANES, find_winners};
use points::gather_points;
use tile::SIDE;

/// About as many cubes as a large GPU holds: 264 on an H200, since a unit takes up to 128 registers. If there would be
/// more, a cube gathers several blocks of channels, which have the same regions and weights.
const ENOUGH_CUBES: usize = 1 << 8;

/// The gradient of features. `features` are there where the operator takes a maximum.
pub fn features_gradient(
    gradient: CubeTensor,
    features: Option<CubeTensor>,
    call: RegionCall<CubeBackend>,
) -> CubeTensor {
    let output = output(&gradient, Shape::new(call.features_shape), gradient.dtype);
    let [images, _, height, width] = call.features_shape;
    let [_, channels, rows, columns] = gradient.shape().dims();
    let operator = call.operator;
    let groups = operator.channel_map.input_channels(rows * columns);
    let tiles = images * height.div_ceil(SIDE) * width.div_ceil(SIDE) * groups;
    let blocks = channels.div_ceil(CHANNELS);
    // A number that is compiled in: powers of two keep the number of kernels small.
    let blocks_of_cube = |most: usize| 1 << (tiles * blocks / ENOUGH_CUBES).clamp(1, most.min(blocks)).ilog2();
    let cubes = |blocks_of_cube: usize| tiles * blocks.div_ceil(blocks_of_cube);
    if let Elements::Points(_) = operator.elements {
        let together = blocks_of_cube(points::TOGETHER);
        let (plan, cubes) = (point_plan(&operator), cubes(together));
        return launch!(
            gather_points, grid(cubes), [gradient], call => output, plan, groups, cubes, together
        );
    }
    let gathered = match features {
        Some(features) => winners(gradient, features, call.clone()),
        None => gradient,
    };
    let together = blocks_of_cube(axes::TOGETHER);
    let (plan, cubes) = (axis_plan(&operator, [height, width]), cubes(together));
    let dtype = output.dtype;
    launch!(gather_axes, grid(cubes), [gathered], call => output, plan, cubes, together; dtype)
}

/// Where each maximum was read, and its gradient: `[PLANES * K, channels, P, Q]`.
fn winners(gradient: CubeTensor, features: CubeTensor, call: RegionCall<CubeBackend>) -> CubeTensor {
    let [regions, channels, rows, columns] = gradient.shape().dims();
    let [_, _, height, width] = call.features_shape;
    let shape = Shape::new([PLANES * regions, channels, rows, columns]);
    let output = output(&gradient, shape, DType::F32);
    let plan = reduction_plan(&call.operator, [height, width], false);
    let elements = gradient.shape().num_elements();
    let cubes = elements.div_ceil(UNITS);
    launch!(find_winners, grid(cubes), [gradient, features], call => output, plan, elements)
}
