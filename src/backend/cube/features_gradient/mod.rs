//! The gradient of features. A cube owns a tile of the map in some channels, and each of its units one of these
//! channels. No two units add to the same sum, so that the same call returns the same bits without atomics.
//!
//! - [`channels_last`]: the gradient and positions as they are read. [`marks`]: which regions may reach which tiles.
//! - [`tile`]: the pixels that a cube owns. [`sums`]: their sums.
//! - [`axes`]: the kernel of axis plans. [`spans`]: what a region's elements read of a tile. [`maximum`]: where the
//!   gradient of a maximum goes.
//! - [`points`]: the kernel of point plans. [`windows`]: the pixels that their regions may read. [`point_samples`]: the
//!   samples of a region that may read a tile.

mod axes;
mod channels_last;
mod marks;
mod maximum;
mod point_samples;
mod points;
mod spans;
mod sums;
mod tile;
mod windows;

use burn::backend::TensorMetadata;
use burn::backend::cubecl::dtype_to_storage_type;
use burn::tensor::{DType, Shape};
use burn_cubecl::CubeBackend;
use burn_cubecl::kernel::cast;
use burn_cubecl::ops::permute;
use burn_cubecl::tensor::CubeTensor;

use super::forward::pool_with_positions;
use super::launch::{UNITS, dtypes, grid, launch, output};
use super::plan::Planner;
use super::plan::layout::{HEADER, PlanLayoutLaunch, header_layout};
use super::unit::plan::{point_plan, reduction_plan};
use super::unit::point_region::CallSizesLaunch;
use crate::backend::RegionCall;
use crate::geometry::operator::Elements;
use axes::{GatherSizesLaunch, Gathered, gather_axes};
use channels_last::move_channels_last;
use marks::{OF_WORD, mark_regions};
use maximum::{PLANES, find_winners};
use points::gather_points;
use tile::{Division, is_few};
use windows::find_windows;

/// The gradient of features. `features` are there where the operator takes a maximum.
pub fn features_gradient(
    gradient: CubeTensor,
    features: Option<CubeTensor>,
    call: RegionCall<CubeBackend>,
) -> CubeTensor {
    match (call.operator.elements, features) {
        (Elements::Points(_), _) => points_gradient(gradient, call),
        (Elements::Samples(_), Some(features)) => {
            let winners = winners_of_samples(features, &gradient, call.clone());
            axes_gradient(gradient, Gathered::Samples, Some(winners), call)
        }
        (_, Some(features)) => {
            let (_, positions) = pool_with_positions(features, call.clone());
            gradient_at(gradient, positions, call)
        }
        (_, None) => axes_gradient(gradient, Gathered::Average, None, call),
    }
}

fn points_gradient(gradient: CubeTensor, call: RegionCall<CubeBackend>) -> CubeTensor {
    let [images, _, height, width] = call.features_shape;
    let [regions, _, rows, columns] = gradient.shape().dims();
    let division = Division::new(call.features_shape, gradient.shape().dims(), call.operator.channel_map);
    let sizes = || CallSizesLaunch::new(images, height as u32, width as u32, rows as u32, columns as u32);
    let output = output(&gradient, Shape::new(call.features_shape), gradient.dtype);
    let gradient = channels_last(gradient);
    let windows = windows(&call, sizes());
    let marks = marks(&windows, header_layout(), regions, &division);
    let (grid, plan) = (grid(division.cubes, tile::UNITS), point_plan(&call.operator));
    let dtypes = dtypes(&gradient, &call);
    launch!(
        gather_points, grid, [gradient, call, marks, output] => output,
        plan, sizes(), division.launch(), dtypes
    );
    output
}

/// The pixels that the regions of point plans may read, as headers of plans.
fn windows(call: &RegionCall<CubeBackend>, sizes: CallSizesLaunch) -> CubeTensor {
    let regions = call.boxes.shape()[0];
    let windows = output(&call.boxes, Shape::new([regions * HEADER]), DType::U32);
    let (grid, plan) = (grid(regions.div_ceil(UNITS), UNITS), point_plan(&call.operator));
    let dtypes = [call.boxes.dtype, call.batch_indices.dtype].map(dtype_to_storage_type);
    launch!(find_windows, grid, [call, windows] => windows, plan, sizes, dtypes);
    windows
}

/// The gradient of features whose maxima were read at these positions.
pub fn gradient_at(gradient: CubeTensor, positions: CubeTensor, call: RegionCall<CubeBackend>) -> CubeTensor {
    axes_gradient(gradient, Gathered::Pixels, Some(channels_last(positions)), call)
}

/// The gradient of axis plans. `winners` say where each maximum was read.
fn axes_gradient(
    gradient: CubeTensor,
    gathered: Gathered,
    winners: Option<CubeTensor>,
    call: RegionCall<CubeBackend>,
) -> CubeTensor {
    let [_, _, height, width] = call.features_shape;
    let (operators, channel_map) = ([call.operator], call.operator.channel_map);
    let division = Division::new(call.features_shape, gradient.shape().dims(), channel_map);
    let planner = Planner::new(&call, &operators, vec![[height, width]]);
    // Sums of several parts are rounded once.
    let dtype = if planner.parts().count() > 1 {
        DType::F32
    } else {
        gradient.dtype
    };
    let output = output(&gradient, Shape::new(call.features_shape), dtype);
    let from = channels_last(gradient.clone());
    for part in planner.parts() {
        let plans = planner.plan(part.clone());
        let marks = marks(&plans, planner.layout(), part.len(), &division);
        let winners = winners.as_ref().unwrap_or(&plans);
        let sizes = GatherSizesLaunch::new(part.start, part.len(), width as u32, channel_map, gathered);
        let dtypes = [from.dtype, dtype].map(dtype_to_storage_type);
        launch!(
            gather_axes, grid(division.cubes, tile::UNITS), [from, winners, plans, marks, output] => output,
            sizes, division.launch(), planner.layout(), dtypes
        );
    }
    cast(output, gradient.dtype)
}

/// Where the maxima of samples were read, `[PLANES * K, C, P, Q]`.
fn winners_of_samples(features: CubeTensor, gradient: &CubeTensor, call: RegionCall<CubeBackend>) -> CubeTensor {
    let [regions, channels, rows, columns] = gradient.shape().dims();
    let [_, _, height, width] = call.features_shape;
    // With channels next to each other, as they are read.
    let winners = output(
        gradient,
        Shape::new([PLANES * regions, rows, columns, channels]),
        DType::U32,
    );
    let winners = permute(winners, &[0, 3, 1, 2]);
    let plan = reduction_plan(&call.operator, [height, width], false);
    let elements = gradient.shape().num_elements();
    let (grid, dtypes) = (grid(elements.div_ceil(UNITS), UNITS), dtypes(&features, &call));
    launch!(find_winners, grid, [features, call, winners] => winners, plan, elements, dtypes);
    winners
}

/// Which of the planned regions may reach which tiles.
fn marks(plans: &CubeTensor, layout: PlanLayoutLaunch, regions: usize, division: &Division) -> CubeTensor {
    let words = division.tiles * regions.div_ceil(OF_WORD);
    let marks = output(plans, Shape::new([words]), DType::U32);
    let grid = grid(words.div_ceil(UNITS), UNITS);
    launch!(mark_regions, grid, [plans, marks] => marks, division.launch(), layout, regions);
    marks
}

/// A tensor `[K, C, P, Q]` whose channels lie next to each other, if they are many.
fn channels_last(tensor: CubeTensor) -> CubeTensor {
    let shape: [usize; 4] = tensor.shape().dims();
    let [regions, channels, rows, columns] = shape;
    if is_few(channels) {
        return tensor;
    }
    let output = output(&tensor, Shape::new([regions, rows, columns, channels]), tensor.dtype);
    let (sizes, cubes) = channels_last::sizes(shape);
    let (grid, dtype) = (grid(cubes, channels_last::UNITS), dtype_to_storage_type(tensor.dtype));
    launch!(move_channels_last, grid, [tensor, output] => output, sizes, dtype);
    permute(output, &[0, 3, 1, 2])
}
