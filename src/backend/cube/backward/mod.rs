//! Gradients on CubeCL devices: gathers without atomics, so that the same call gives the same bits. A call, or a level
//! of a feature pyramid, is one launch for each gradient; nothing is read back, and nothing is kept but the result.
//!
//! - [`tile`]: the pixels that a cube of units owns, and the regions that reach them.
//! - [`average`] and [`maximum`]: the gradient of features; a unit owns a pixel in a few channels.
//! - [`weights`]: the weights of a tile's rows and columns in the elements of regions.
//! - [`winner`]: what a maximum was read from.
//! - [`boxes`]: the gradient of boxes; a cube owns a region. [`slope`]: how what is read changes with its position;
//!   [`integrals`]: how the mean of a bin changes with its region.

pub mod average;
pub mod boxes;
mod integrals;
mod maximum;
mod slope;
pub mod tile;
mod weights;
mod winner;

use std::mem::{Discriminant, discriminant};

use burn::backend::TensorMetadata;
use burn::backend::cubecl::dtype_to_storage_type;
use burn::tensor::Shape;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::kernel::{address_type, reduction, rules};
use super::unit::CHANNELS;
use crate::geometry::levels::AreaRange;
use crate::geometry::operator::{ChannelMap, Elements, RegionOperator};
use crate::geometry::options::{BoxFormat, Reduction};
use crate::geometry::plan::Coordinate;
use crate::geometry::real::single::area::AreaRuleLaunch;
use crate::geometry::real::single::rules::area_rule;
use tile::{SIDE, UNITS};

/// Enough cubes to fill a large GPU several times: an H200 holds 264, since a unit takes 104 to 128 registers (`ptxas`
/// for `sm_90a`). Where there would be more, a cube gathers two blocks of channels: both have the same regions and
/// weights.
const ENOUGH_CUBES: usize = 1 << 10;

/// How many blocks of channels a cube gathers at most.
pub const TOGETHER: usize = 2;

/// What is compiled in. Everything else of an operator is an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Compiled {
    reduction: Reduction,
    box_format: BoxFormat,
    channel_map: ChannelMap,
    /// Whether boxes outside of the range of areas are left alone.
    of_level: bool,
    /// How elements read, which the hash of the argument `Rules` does not count.
    elements: Discriminant<Elements>,
    flat_on_pixels: bool,
}

impl Compiled {
    fn new(operator: &RegionOperator) -> Self {
        Self {
            reduction: reduction(operator).0,
            box_format: operator.box_format,
            channel_map: operator.channel_map,
            of_level: operator.areas != AreaRange::ALL,
            elements: discriminant(&operator.elements),
            flat_on_pixels: operator.flat_on_pixels(),
        }
    }
}

/// The gradient of features of a shape. `features` are there where the operator takes a maximum.
pub fn features_gradient(
    gradient: CubeTensor,
    features: Option<CubeTensor>,
    boxes: CubeTensor,
    batch_indices: CubeTensor,
    operator: &RegionOperator,
    shape: [usize; 4],
) -> CubeTensor {
    let client = gradient.client.clone();
    let output = empty_device_contiguous_dtype(
        client.clone(),
        gradient.device.clone(),
        Shape::new(shape),
        gradient.dtype,
    );
    let [images, _, height, width] = shape;
    let [_, channels, rows, columns] = gradient.shape().dims();
    let places = operator.channel_map.input_channels(rows * columns);
    let tiles = images * height.div_ceil(SIDE) * width.div_ceil(SIDE) * places;
    let blocks = channels.div_ceil(CHANNELS);
    let blocks_of_cube = match features {
        Some(_) => 1,
        None => (tiles * blocks / ENOUGH_CUBES).clamp(1, TOGETHER.min(blocks)),
    };
    let cubes = tiles * blocks.div_ceil(blocks_of_cube);
    let (dtype, box_dtype, index_dtype) = (gradient.dtype, boxes.dtype, batch_indices.dtype);
    let inputs = [&gradient, &boxes, &batch_indices, &output]
        .into_iter()
        .chain(&features);
    let addresses = address_type(inputs);
    let areas = area_rule(&operator.areas);
    let areas = AreaRuleLaunch::new(areas.from, areas.below);
    let rules = rules(f32::rules(&operator.elements, [height, width]));
    match features {
        None => average::gather_average::launch(
            &client,
            cube_count(cubes),
            CubeDim::new_1d(UNITS as u32),
            addresses,
            gradient.into_tensor_arg(),
            boxes.into_tensor_arg(),
            batch_indices.into_tensor_arg(),
            output.clone().into_tensor_arg(),
            rules,
            areas,
            blocks_of_cube,
            cubes,
            Compiled::new(operator),
            dtype_to_storage_type(dtype),
            dtype_to_storage_type(box_dtype),
            dtype_to_storage_type(index_dtype),
        ),
        Some(features) => maximum::gather_maximum::launch(
            &client,
            cube_count(cubes),
            CubeDim::new_1d(UNITS as u32),
            addresses,
            gradient.into_tensor_arg(),
            features.into_tensor_arg(),
            boxes.into_tensor_arg(),
            batch_indices.into_tensor_arg(),
            output.clone().into_tensor_arg(),
            rules,
            areas,
            reduction(operator).1,
            operator.value_without_pixels() as f32,
            cubes,
            Compiled::new(operator),
            dtype_to_storage_type(dtype),
            dtype_to_storage_type(box_dtype),
            dtype_to_storage_type(index_dtype),
        ),
    }
    output
}

/// The gradient `[K, 4]` of boxes.
pub fn boxes_gradient(
    gradient: CubeTensor,
    features: CubeTensor,
    boxes: CubeTensor,
    batch_indices: CubeTensor,
    operator: &RegionOperator,
) -> CubeTensor {
    let client = gradient.client.clone();
    let output = empty_device_contiguous_dtype(client.clone(), gradient.device.clone(), boxes.shape(), boxes.dtype);
    let [_, _, height, width] = features.shape().dims();
    let (dtype, box_dtype, index_dtype) = (gradient.dtype, boxes.dtype, batch_indices.dtype);
    let addresses = address_type([&gradient, &features, &boxes, &batch_indices, &output]);
    let areas = area_rule(&operator.areas);
    boxes::pull_boxes::launch(
        &client,
        cube_count(boxes.shape()[0]),
        CubeDim::new_1d(UNITS as u32),
        addresses,
        gradient.into_tensor_arg(),
        features.into_tensor_arg(),
        boxes.into_tensor_arg(),
        batch_indices.into_tensor_arg(),
        output.clone().into_tensor_arg(),
        rules(f32::rules(&operator.elements, [height, width])),
        AreaRuleLaunch::new(areas.from, areas.below),
        reduction(operator).1,
        operator.value_without_pixels() as f32,
        Compiled::new(operator),
        dtype_to_storage_type(dtype),
        dtype_to_storage_type(box_dtype),
        dtype_to_storage_type(index_dtype),
    );
    output
}

/// At least this many cubes, in two dimensions: one holds 65,535 at most.
pub fn cube_count(cubes: usize) -> CubeCount {
    const WIDEST: usize = 1 << 15;
    CubeCount::Static(cubes.min(WIDEST) as u32, cubes.div_ceil(WIDEST) as u32, 1)
}
