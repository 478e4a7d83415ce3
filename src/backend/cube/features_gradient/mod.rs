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
use super::launch::{RegionsLaunch, UNITS, address_type, grid, launch, output, units_of_grid};
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
    let (cubes, cube_size) = grid(division.cubes, tile::UNITS);
    let tensors = [&gradient, &call.boxes, &call.batch_indices, &marks, &output];
    gather_points::launch(
        &output.client,
        cubes.clone(),
        cube_size,
        address_type(&tensors, units_of_grid(&cubes, cube_size)),
        gradient.clone().into_tensor_arg(),
        RegionsLaunch::new(
            call.boxes.clone().into_tensor_arg(),
            call.batch_indices.clone().into_tensor_arg(),
        ),
        marks.clone().into_tensor_arg(),
        output.clone().into_tensor_arg(),
        point_plan(&call.operator),
        sizes(),
        division.launch(),
        [gradient.dtype, call.boxes.dtype, call.batch_indices.dtype].map(dtype_to_storage_type),
    );
    output
}

/// The pixels that the regions of point plans may read, as headers of plans.
fn windows(call: &RegionCall<CubeBackend>, sizes: CallSizesLaunch) -> CubeTensor {
    let regions = call.boxes.shape()[0];
    let windows = output(&call.boxes, Shape::new([regions * HEADER]), DType::U32);
    let (cubes, cube_size) = grid(regions.div_ceil(UNITS), UNITS);
    let tensors = [&call.boxes, &call.batch_indices, &windows];
    find_windows::launch(
        &windows.client,
        cubes.clone(),
        cube_size,
        address_type(&tensors, units_of_grid(&cubes, cube_size)),
        RegionsLaunch::new(
            call.boxes.clone().into_tensor_arg(),
            call.batch_indices.clone().into_tensor_arg(),
        ),
        windows.clone().into_tensor_arg(),
        point_plan(&call.operator),
        sizes,
        [call.boxes.dtype, call.batch_indices.dtype].map(dtype_to_storage_type),
    );
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
    let operators = [call.operator];
    let division = Division::new(call.features_shape, gradient.shape().dims(), call.operator.channel_map);
    let planner = Planner::new(&call, &operators, vec![[height, width]]);
    // Sums of several parts are rounded once.
    let dtype = if planner.parts().count() > 1 {
        DType::F32
    } else {
        gradient.dtype
    };
    let output = output(&gradient, Shape::new(call.features_shape), dtype);
    let (cubes, cube_size) = grid(division.cubes, tile::UNITS);
    let from = channels_last(gradient.clone());
    for part in planner.parts() {
        let plans = planner.plan(part.clone());
        let marks = marks(&plans, planner.layout(), part.len(), &division);
        let winners = winners.as_ref().unwrap_or(&plans);
        let tensors = [&from, winners, &plans, &marks, &output];
        gather_axes::launch(
            &output.client,
            cubes.clone(),
            cube_size,
            address_type(&tensors, units_of_grid(&cubes, cube_size)),
            from.clone().into_tensor_arg(),
            winners.clone().into_tensor_arg(),
            plans.clone().into_tensor_arg(),
            marks.clone().into_tensor_arg(),
            output.clone().into_tensor_arg(),
            GatherSizesLaunch::new(
                part.start,
                part.len(),
                width as u32,
                call.operator.channel_map,
                gathered,
            ),
            division.launch(),
            planner.layout(),
            [from.dtype, dtype].map(dtype_to_storage_type),
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
    let cubes = elements.div_ceil(UNITS);
    launch!(find_winners, grid(cubes, UNITS), [features], call => winners, plan, elements)
}

/// Which of the planned regions may reach which tiles.
fn marks(plans: &CubeTensor, layout: PlanLayoutLaunch, regions: usize, division: &Division) -> CubeTensor {
    let words = division.tiles * regions.div_ceil(OF_WORD);
    let marks = output(plans, Shape::new([words]), DType::U32);
    let (cubes, cube_size) = grid(words.div_ceil(UNITS), UNITS);
    mark_regions::launch(
        &marks.client,
        cubes.clone(),
        cube_size,
        address_type(&[plans, &marks], units_of_grid(&cubes, cube_size)),
        plans.clone().into_tensor_arg(),
        marks.clone().into_tensor_arg(),
        division.launch(),
        layout,
        regions,
    );
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
    let (cubes, cube_size) = grid(cubes, channels_last::UNITS);
    move_channels_last::launch(
        &output.client,
        cubes.clone(),
        cube_size,
        address_type(&[&tensor, &output], units_of_grid(&cubes, cube_size)),
        tensor.clone().into_tensor_arg(),
        output.clone().into_tensor_arg(),
        sizes,
        dtype_to_storage_type(tensor.dtype),
    );
    permute(output, &[0, 3, 1, 2])
}
