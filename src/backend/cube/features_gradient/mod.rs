//! The gradient of features: a gather without atomics, so that the same call returns the same bits. A unit owns a pixel
//! in a few channels.
//!
//! - [`tile`]: the pixels that a cube of units owns. [`list`]: the regions that reach them.
//! - [`average`] and [`maximum`]: the kernels of axis plans. [`weights`]: the weights of a tile's rows and columns in
//!   the elements of regions.
//! - [`points`]: the kernel of point plans.

mod average;
mod list;
mod maximum;
mod points;
mod tile;
mod weights;

use burn::backend::TensorMetadata;
use burn::tensor::Shape;
use burn_cubecl::tensor::CubeTensor;

use super::launch::{grid, launch, output};
use super::unit::channels::CHANNELS;
use super::unit::plan::{axis_plan, point_plan, reduction_plan};
use crate::geometry::operator::{Elements, RegionOperator};
use average::{TOGETHER, gather_average};
use maximum::gather_maximum;
use points::gather_points;
use tile::SIDE;

/// Enough cubes to fill a large GPU several times: an H200 holds 264, since a unit takes 104 to 128 registers (`ptxas`
/// for `sm_90a`). Where there would be more, a cube gathers two blocks of channels: both have the same regions and
/// weights.
const ENOUGH_CUBES: usize = 1 << 10;

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
    match (&operator.elements, features) {
        (Elements::Points(points), _) => {
            let (plan, cubes) = (point_plan(operator, points), tiles * blocks);
            launch!(gather_points, grid(cubes), [gradient], boxes, batch_indices => output, plan, groups, cubes)
        }
        (_, Some(features)) => {
            let (plan, cubes) = (reduction_plan(operator, [height, width], false), tiles * blocks);
            launch!(gather_maximum, grid(cubes), [gradient, features], boxes, batch_indices => output, plan, cubes)
        }
        (_, None) => {
            let blocks_of_cube = (tiles * blocks / ENOUGH_CUBES).clamp(1, TOGETHER.min(blocks));
            let (plan, cubes) = (
                axis_plan(operator, [height, width]),
                tiles * blocks.div_ceil(blocks_of_cube),
            );
            launch!(
                gather_average, grid(cubes), [gradient], boxes, batch_indices => output, plan, blocks_of_cube, cubes
            )
        }
    }
}
