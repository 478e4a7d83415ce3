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
use burn_cubecl::tensor::CubeTensor;

use super::launch::{UNITS, grid, launch, output};
use super::unit::channels::CHANNELS;
use super::unit::plan::{axis_plan, point_plan, reduction_plan};
use crate::geometry::operator::{Elements, RegionOperator};
use axes::gather_axes;
use maximum::{PLANES, find_winners};
use points::gather_points;
use tile::SIDE;

/// About as many cubes as a large GPU holds: 264 on an H200, since a unit takes up to 128 registers. If there would be
/// more, a cube gathers several blocks of channels, which have the same regions and weights.
const ENOUGH_CUBES: usize = 1 << 8;

/// The gradient of features of a shape. `features` are there where the operator takes a maximum.
pub fn features_gradient(
    gradient: CubeTensor,
    features: Option<CubeTensor>,
    boxes: CubeTensor,
    batch_indices: CubeTensor,
    operator: &RegionOperator,
    shape: [usize; 4],
) -> CubeTensor {
    let output = output(&gradient, Shape::new(shape), gradient.dtype);
    let [images, _, height, width] = shape;
    let [_, channels, rows, columns] = gradient.shape().dims();
    let groups = operator.channel_map.input_channels(rows * columns);
    let tiles = images * height.div_ceil(SIDE) * width.div_ceil(SIDE) * groups;
    let blocks = channels.div_ceil(CHANNELS);
    // A number that is compiled in: powers of two keep the number of kernels small.
    let blocks_of_cube = |most: usize| 1 << (tiles * blocks / ENOUGH_CUBES).clamp(1, most.min(blocks)).ilog2();
    if let Elements::Points(grid_of_points) = &operator.elements {
        let blocks_of_cube = blocks_of_cube(points::TOGETHER);
        let (plan, cubes) = (
            point_plan(operator, grid_of_points),
            tiles * blocks.div_ceil(blocks_of_cube),
        );
        return launch!(
            gather_points, grid(cubes), [gradient], boxes, batch_indices => output, plan, groups, cubes, blocks_of_cube
        );
    }
    let gathered = match features {
        Some(features) => winners(gradient, features, &boxes, &batch_indices, operator),
        None => gradient,
    };
    let blocks_of_cube = blocks_of_cube(axes::TOGETHER);
    let (plan, cubes) = (
        axis_plan(operator, [height, width]),
        tiles * blocks.div_ceil(blocks_of_cube),
    );
    let dtype = output.dtype;
    launch!(
        gather_axes, grid(cubes), [gathered], boxes, batch_indices => output, plan, cubes, blocks_of_cube; dtype
    )
}

/// Where each maximum was read, and its gradient: `[PLANES * K, channels, P, Q]`.
fn winners(
    gradient: CubeTensor,
    features: CubeTensor,
    boxes: &CubeTensor,
    batch_indices: &CubeTensor,
    operator: &RegionOperator,
) -> CubeTensor {
    let (boxes, batch_indices) = (boxes.clone(), batch_indices.clone());
    let [regions, channels, rows, columns] = gradient.shape().dims();
    let [_, _, height, width] = features.shape().dims();
    let output = output(
        &gradient,
        Shape::new([PLANES * regions, channels, rows, columns]),
        DType::F32,
    );
    let (plan, elements) = (
        reduction_plan(operator, [height, width], false),
        gradient.shape().num_elements(),
    );
    launch!(
        find_winners, grid(elements.div_ceil(UNITS)), [gradient, features], boxes, batch_indices => output, plan,
        elements
    )
}
