//! Pools regions: a unit computes an element in up to 32 channels.

use burn::backend::TensorMetadata;
use burn::backend::cubecl::dtype_to_storage_type;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;

use super::region::{PointRegion, offset_is_finite, point_rule, read_offset, read_region};
use super::{Channels, Compiled};
use crate::backend::cube::blocks::{Block, Layout, Two, add_two, blocks, multiply, write_blocks};
use crate::backend::cube::kernel::{address_type, units};
use crate::backend::cube::unit::{Element, Units, element, sizes};
use crate::backend::output_shape;
use crate::geometry::operator::RegionOperator;
use crate::geometry::point_grid::PointGrid;
use crate::geometry::real::single::area::{AreaRule, AreaRuleLaunch};
use crate::geometry::real::single::points::{
    Point, PointRule, place, places_of_pixels, reads, samples_between, turned,
};
use crate::geometry::real::single::rules::{self, area_rule};
use crate::geometry::real::single::samples::bilinear_taps;

#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)]
fn pool_points<F: Float, R: Float, I: Int>(
    features: &Tensor<F>,
    boxes: &Tensor<R>,
    batch_indices: &Tensor<I>,
    output: &mut Tensor<F>,
    units: &Units,
    rule: &PointRule,
    areas: &AreaRule,
    #[comptime] compiled: Compiled,
    #[comptime] layout: Layout,
    #[define(F)] _dtype: cubecl::ir::ElemType,
    #[define(R)] _box_dtype: cubecl::ir::ElemType,
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
    let mut blocks = blocks(features, region.image, &element, units, &sizes, 0.0, layout);
    if region.pooled {
        add_samples(
            features,
            boxes,
            rule,
            &region,
            &element,
            sizes.channels,
            &mut blocks,
            compiled.channels,
            layout,
        );
    }
    write_blocks(output, &element, &blocks, layout);
}

/// Adds the mean of an element's samples, in all channels of a unit.
#[cube]
#[allow(clippy::too_many_arguments)]
fn add_samples<F: Float, R: Float>(
    features: &Tensor<F>,
    boxes: &Tensor<R>,
    rule: &PointRule,
    region: &PointRegion,
    element: &Element,
    channels: usize,
    blocks: &mut Sequence<Block>,
    #[comptime] of_channels: Channels,
    #[comptime] layout: Layout,
) {
    let (height, width) = (region.y.size, region.x.size);
    let (p, q) = (element.row as u32, element.column as u32);
    let offset = read_offset(boxes, rule, region, p, q);
    let places = places_of_pixels(rule, &region.turn, 0u32, height - 1u32, 0u32, width - 1u32);
    let rows = samples_between(rule, &region.y, p, offset.shift_y, places.low_y, places.high_y);
    let columns = samples_between(rule, &region.x, q, offset.shift_x, places.low_x, places.high_x);
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
                add_point(features, &point, height, width, shift, row_step, step, blocks, layout);
            }
        }
    }
    let mut samples = region.y.samples as f32 * region.x.samples as f32;
    if rule.ignores_out_of_bounds == 1u32 {
        samples = count as f32;
    }
    if count > 0u32 {
        multiply(blocks, 1.0 / samples, layout);
    }
}

/// Adds a bilinear sample, in all channels of a unit, which it reads `shift` after those of the first sample.
#[cube]
#[allow(clippy::too_many_arguments)]
fn add_point<F: Float>(
    features: &Tensor<F>,
    point: &Point,
    height: u32,
    width: u32,
    shift: usize,
    row_step: usize,
    step: usize,
    blocks: &mut Sequence<Block>,
    #[comptime] layout: Layout,
) {
    let y = bilinear_taps(point.y, height);
    let x = bilinear_taps(point.x, width);
    let mut row = y.low;
    let mut weight = 1.0 - y.fraction;
    for _ in 0..2u32 {
        let two = Two {
            left: shift + row as usize * row_step + x.low as usize * step,
            distance: (x.high - x.low) as usize * step,
            left_weight: weight * (1.0 - x.fraction),
            right_weight: weight * x.fraction,
        };
        add_two(features, &two, blocks, layout);
        row = y.high;
        weight = y.fraction;
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
    let (dtype, box_dtype, index_dtype) = (features.dtype, boxes.dtype, batch_indices.dtype);
    let addresses = address_type([&features, &boxes, &batch_indices, &output]);
    let compiled = Compiled::new(operator);
    let layout = Layout::new(shape[1], compiled.channels.of_first_sample(), &features);
    let areas = area_rule(&operator.areas);
    pool_points::launch(
        &client,
        calculate_cube_count_elemwise(&client, total, dim),
        dim,
        addresses,
        features.into_tensor_arg(),
        boxes.into_tensor_arg(),
        batch_indices.into_tensor_arg(),
        output.clone().into_tensor_arg(),
        units,
        point_rule(rules::point_rule(grid)),
        AreaRuleLaunch::new(areas.from, areas.below),
        compiled,
        layout,
        dtype_to_storage_type(dtype),
        dtype_to_storage_type(box_dtype),
        dtype_to_storage_type(index_dtype),
    );
    output
}
