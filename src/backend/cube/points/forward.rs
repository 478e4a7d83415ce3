//! Pools regions: a unit computes an element in a few channels.

use burn::backend::TensorMetadata;
use burn::backend::cubecl::dtype_to_storage_type;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;

use super::region::{PointRegion, offset_is_finite, point_rule, read_offset, read_region};
use super::{Channels, Compiled};
use crate::backend::cube::kernel::{address_type, units};
use crate::backend::cube::unit::{CHANNELS, Element, Sizes, Units, element, planes, sizes, write};
use crate::backend::output_shape;
use crate::geometry::operator::{ChannelMap, RegionOperator};
use crate::geometry::point_grid::PointGrid;
use crate::geometry::real::single::area::{AreaRule, AreaRuleLaunch};
use crate::geometry::real::single::make::area_rule;
use crate::geometry::real::single::make_points;
use crate::geometry::real::single::points::{
    Point, PointRule, place, places_of_pixels, reads, samples_between, turned,
};
use crate::geometry::real::single::samples::bilinear_taps;

#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)]
fn pool_points<F: Float, I: Int>(
    features: &Tensor<F>,
    boxes: &Tensor<F>,
    batch_indices: &Tensor<I>,
    output: &mut Tensor<F>,
    units: &Units,
    rule: &PointRule,
    areas: &AreaRule,
    #[comptime] compiled: Compiled,
    #[define(F)] _dtype: cubecl::ir::ElemType,
    #[define(I)] _index_dtype: cubecl::ir::ElemType,
) {
    if ABSOLUTE_POS >= units.total {
        terminate!();
    }
    let element = element(units);
    let sizes = sizes(output);
    let region = read_region(
        boxes,
        batch_indices,
        element.region,
        features.shape(0),
        rule,
        areas,
        sizes.rows as u32,
        sizes.columns as u32,
        features.shape(2) as u32,
        features.shape(3) as u32,
        compiled.of_level,
    );
    // The rows of other levels are left alone. A region that names no image or is not finite gives 0.
    if comptime!(compiled.of_level) && !region.in_range {
        terminate!();
    }
    for block in 0..units.blocks {
        let first = element.channel + block * CHANNELS;
        let mut results = Array::<f32>::new(CHANNELS);
        #[unroll]
        for channel in 0..CHANNELS {
            results[channel] = 0.0;
        }
        if region.pooled {
            add_samples(
                features,
                boxes,
                rule,
                &region,
                &element,
                first,
                &mut results,
                output.shape(1),
                compiled.channels,
            );
        }
        write(output, &element, first, &results);
    }
}

/// Adds the mean of an element's samples, in the channels of a block.
#[cube]
#[allow(clippy::too_many_arguments)]
fn add_samples<F: Float>(
    features: &Tensor<F>,
    boxes: &Tensor<F>,
    rule: &PointRule,
    region: &PointRegion,
    element: &Element,
    first: usize,
    results: &mut Array<f32>,
    channels: usize,
    #[comptime] of_channels: Channels,
) {
    let (height, width) = (region.y.size, region.x.size);
    let (p, q) = (element.row as u32, element.column as u32);
    let offset = read_offset(boxes, rule, region, p, q);
    let places = places_of_pixels(rule, &region.turn, 0u32, height - 1u32, 0u32, width - 1u32);
    let rows = samples_between(rule, &region.y, p, offset.shift_y, places.low_y, places.high_y);
    let columns = samples_between(rule, &region.x, q, offset.shift_x, places.low_x, places.high_x);
    let planes = planes_of(features, region, element, first, channels, of_channels);
    let (row_step, step) = (features.stride(2), features.stride(3));
    let of_sample = channels * features.stride(1);
    let mut rows_end = rows.end;
    if !offset_is_finite(&offset) {
        rows_end = rows.first;
    }
    let mut count = 0u32;
    for sample_y in rows.first..rows_end {
        let place_y = place(rule, &region.y, p, sample_y, offset.shift_y);
        for sample_x in columns.first..columns.end {
            let place_x = place(rule, &region.x, q, sample_x, offset.shift_x);
            let point = turned(rule, &region.turn, place_y, place_x);
            if reads(rule, &point, height, width) {
                count += 1u32;
                let mut shift = 0usize.runtime();
                if comptime!(of_channels == Channels::OfSamples) {
                    shift = (sample_y * region.x.samples + sample_x) as usize * of_sample;
                }
                add_point(features, &planes, shift, row_step, step, &point, height, width, results);
            }
        }
    }
    let mut samples = region.y.samples as f32 * region.x.samples as f32;
    if rule.ignores_out_of_bounds == 1u32 {
        samples = count as f32;
    }
    if count > 0u32 {
        let share = 1.0 / samples;
        #[unroll]
        for channel in 0..CHANNELS {
            results[channel] *= share;
        }
    }
}

/// Where pixel 0 lies in the channels that a block of output channels reads, for the first sample.
#[cube]
fn planes_of<F: Float>(
    features: &Tensor<F>,
    region: &PointRegion,
    element: &Element,
    first: usize,
    channels: usize,
    #[comptime] of_channels: Channels,
) -> Array<usize> {
    let sizes = Sizes {
        channels,
        rows: region.y.elements as usize,
        columns: region.x.elements as usize,
    };
    if comptime!(of_channels == Channels::OfElements) {
        planes(
            features,
            region.image,
            element,
            first,
            &sizes,
            comptime!(ChannelMap::PositionSensitive),
        )
    } else {
        let mut planes = Array::<usize>::new(CHANNELS);
        let start = region.image * features.stride(0);
        #[unroll]
        for channel in 0..CHANNELS {
            planes[channel] = start + (first + channel).min(channels - 1) * features.stride(1);
        }
        planes
    }
}

/// Adds a bilinear sample in all channels of a block.
#[cube]
#[allow(clippy::too_many_arguments)]
fn add_point<F: Float>(
    features: &Tensor<F>,
    planes: &Array<usize>,
    shift: usize,
    row_step: usize,
    step: usize,
    point: &Point,
    height: u32,
    width: u32,
    results: &mut Array<f32>,
) {
    let y = bilinear_taps(point.y, height);
    let x = bilinear_taps(point.x, width);
    let (low, high) = (y.low as usize * row_step, y.high as usize * row_step);
    let (left, right) = (x.low as usize * step, x.high as usize * step);
    let weight_11 = (1.0 - y.fraction) * (1.0 - x.fraction);
    let weight_12 = (1.0 - y.fraction) * x.fraction;
    let weight_21 = y.fraction * (1.0 - x.fraction);
    let weight_22 = y.fraction * x.fraction;
    #[unroll]
    for channel in 0..CHANNELS {
        let plane = planes[channel] + shift;
        results[channel] += weight_11 * f32::cast_from(features[plane + low + left]);
        results[channel] += weight_12 * f32::cast_from(features[plane + low + right]);
        results[channel] += weight_21 * f32::cast_from(features[plane + high + left]);
        results[channel] += weight_22 * f32::cast_from(features[plane + high + right]);
    }
}

/// Launches the kernel, for a call or for a level of a pyramid, of which `pooled` is what other levels have pooled.
pub fn pool(
    pooled: Option<CubeTensor>,
    features: CubeTensor,
    boxes: CubeTensor,
    batch_indices: CubeTensor,
    operator: &RegionOperator,
    grid: &PointGrid,
) -> CubeTensor {
    let client = features.client.clone();
    let shape = output_shape(&features.shape(), &boxes.shape(), operator);
    let output = match pooled {
        Some(pooled) if pooled.can_mut() => pooled,
        Some(pooled) => pooled.copy(),
        None => empty_device_contiguous_dtype(client.clone(), features.device.clone(), shape.clone(), features.dtype),
    };
    let dim = CubeDim::new(&client, u32::MAX as usize);
    let (units, total) = units(shape.dims());
    let (dtype, index_dtype) = (features.dtype, batch_indices.dtype);
    let addresses = [&features, &boxes, &batch_indices, &output].map(address_type);
    let areas = area_rule(&operator.areas);
    pool_points::launch(
        &client,
        calculate_cube_count_elemwise(&client, total, dim),
        dim,
        addresses.into_iter().max().expect("there are tensors"),
        features.into_tensor_arg(),
        boxes.into_tensor_arg(),
        batch_indices.into_tensor_arg(),
        output.clone().into_tensor_arg(),
        units,
        point_rule(make_points::point_rule(grid)),
        AreaRuleLaunch::new(areas.from, areas.below),
        Compiled::new(operator),
        dtype_to_storage_type(dtype),
        dtype_to_storage_type(index_dtype),
    );
    output
}
