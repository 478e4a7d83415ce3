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
use burn::backend::cubecl::dtype_to_storage_type;
use burn::tensor::{DType, Shape};
use burn_cubecl::CubeBackend;
use burn_cubecl::kernel::cast;
use burn_cubecl::tensor::CubeTensor;

use super::launch::{UNITS, address_type, grid, launch, output, units_of_grid};
use super::plan::Planner;
use super::unit::channels::CHANNELS;
use super::unit::plan::{point_plan, reduction_plan};
use crate::backend::RegionCall;
use crate::geometry::operator::{Elements, RegionOperator};
use axes::{GatherOptions, GatherSizesLaunch, Gathered, gather_axes};
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
    match (call.operator.elements, features) {
        (Elements::Points(_), _) => points_gradient(gradient, call),
        (_, None) => axes_gradient(gradient.clone(), Gathered::Average, gradient, call),
        (elements, Some(features)) => {
            let gathered = match elements {
                Elements::Samples(_) => Gathered::WinnersBetweenPixels,
                _ => Gathered::WinnersOnPixels,
            };
            axes_gradient(
                winners(gradient.clone(), features, call.clone()),
                gathered,
                gradient,
                call,
            )
        }
    }
}

/// How many cubes gather the pixels of a map, and how many blocks of channels each gathers, up to `most`.
fn cubes([images, _, height, width]: [usize; 4], groups: usize, channels: usize, most: usize) -> (usize, usize) {
    let tiles = images * height.div_ceil(SIDE) * width.div_ceil(SIDE) * groups;
    let blocks = channels.div_ceil(CHANNELS);
    // A number that is compiled in: powers of two keep the number of kernels small.
    let of_cube = 1 << (tiles * blocks / ENOUGH_CUBES).clamp(1, most.min(blocks)).ilog2();
    (tiles * blocks.div_ceil(of_cube), of_cube)
}

/// How many groups of channels elements read.
fn groups(gradient: &CubeTensor, operator: &RegionOperator) -> usize {
    let [_, _, rows, columns] = gradient.shape().dims();
    operator.channel_map.input_channels(rows * columns)
}

fn points_gradient(gradient: CubeTensor, call: RegionCall<CubeBackend>) -> CubeTensor {
    let output = output(&gradient, Shape::new(call.features_shape), gradient.dtype);
    let groups = groups(&gradient, &call.operator);
    let (cubes, together) = cubes(call.features_shape, groups, gradient.shape()[1], points::TOGETHER);
    let plan = point_plan(&call.operator);
    launch!(gather_points, grid(cubes, UNITS), [gradient], call => output, plan, groups, cubes, together)
}

/// Gathers from the gradient of an average, or from the winners of a maximum, whose gradient this is.
fn axes_gradient(
    from: CubeTensor,
    gathered: Gathered,
    gradient: CubeTensor,
    call: RegionCall<CubeBackend>,
) -> CubeTensor {
    let [_, _, height, width] = call.features_shape;
    let operators = [call.operator];
    let planner = Planner::new(&call, &operators, vec![[height, width]]);
    // Sums of several parts are rounded once.
    let dtype = if planner.parts().count() > 1 {
        DType::F32
    } else {
        gradient.dtype
    };
    let output = output(&gradient, Shape::new(call.features_shape), dtype);
    let groups = groups(&gradient, &call.operator);
    let (cubes, blocks) = cubes(call.features_shape, groups, gradient.shape()[1], axes::TOGETHER);
    let options = GatherOptions {
        channel_map: call.operator.channel_map,
        gathered,
        blocks,
    };
    let (count, cube_size) = grid(cubes, UNITS);
    for part in planner.parts() {
        let plans = planner.plan(part.clone());
        gather_axes::launch(
            &output.client,
            count.clone(),
            cube_size,
            address_type(&[&from, &plans, &output], units_of_grid(&count, cube_size)),
            from.clone().into_tensor_arg(),
            plans.into_tensor_arg(),
            output.clone().into_tensor_arg(),
            GatherSizesLaunch::new(part.start, part.len(), cubes),
            planner.layout(),
            options,
            [from.dtype, dtype].map(dtype_to_storage_type),
        );
    }
    cast(output, gradient.dtype)
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
    launch!(find_winners, grid(cubes, UNITS), [gradient, features], call => output, plan, elements)
}
