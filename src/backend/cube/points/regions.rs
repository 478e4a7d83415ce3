//! The gradient of boxes, angles and offsets: a cube owns a region, and its units sum over channels.

use burn::backend::TensorMetadata;
use burn::backend::cubecl::dtype_to_storage_type;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::region::{ElementOffset, PointRegion, offset_is_finite, point_rule, read_offset, read_region};
use super::{Channels, Compiled};
use crate::backend::cube::backward::boxes::write_end;
use crate::backend::cube::backward::cube_count;
use crate::backend::cube::backward::tile::UNITS;
use crate::backend::cube::kernel::address_type;
use crate::geometry::operator::RegionOperator;
use crate::geometry::point_grid::PointGrid;
use crate::geometry::real::single::area::{AreaRule, AreaRuleLaunch};
use crate::geometry::real::single::point_slopes::{angle_slopes, fraction_slope, place_slopes};
use crate::geometry::real::single::points::{
    Point, PointRule, ROTATED, place, places_of_pixels, reads, samples_between, turned,
};
use crate::geometry::real::single::rules::{self, area_rule};
use crate::geometry::real::single::samples::bilinear_taps;

/// The gradients of a region's numbers, and of an offset.
#[derive(CubeType)]
struct OfRegion {
    x1: f32,
    y1: f32,
    x2: f32,
    y2: f32,
    angle: f32,
    offset_y: f32,
    offset_x: f32,
}

#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)]
fn pull_points<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    features: &Tensor<F>,
    boxes: &Tensor<R>,
    batch_indices: &Tensor<I>,
    output: &mut Tensor<R>,
    rule: &PointRule,
    areas: &AreaRule,
    #[comptime] compiled: Compiled,
    #[define(F)] _dtype: cubecl::ir::ElemType,
    #[define(R)] _box_dtype: cubecl::ir::ElemType,
    #[define(I)] _index_dtype: cubecl::ir::ElemType,
) {
    let row = CUBE_POS;
    if row >= gradient.shape(0) {
        terminate!();
    }
    let region = read_region(
        boxes,
        batch_indices,
        row,
        features.shape(0),
        rule,
        areas,
        gradient.shape(2) as u32,
        gradient.shape(3) as u32,
        features.shape(2) as u32,
        features.shape(3) as u32,
        compiled.of_level,
    );
    let mut shared = Shared::<[f32]>::new_slice(UNITS);
    let mut of_region = OfRegion {
        x1: 0.0f32,
        y1: 0.0f32,
        x2: 0.0f32,
        y2: 0.0f32,
        angle: 0.0f32,
        offset_y: 0.0f32,
        offset_x: 0.0f32,
    };
    // One part after another, each with the elements that its offset moves; all of them where there are no offsets.
    let offsets = (rule.parts_y * rule.parts_x) as usize;
    for part in 0..offsets.max(1usize) {
        of_region.offset_y = 0.0;
        of_region.offset_x = 0.0;
        let mut first_p = 0u32;
        let mut end_p = region.y.elements;
        let mut first_q = 0u32;
        let mut end_q = region.x.elements;
        if offsets > 0usize {
            let part_y = part as u32 / rule.parts_x;
            let part_x = part as u32 % rule.parts_x;
            first_p = first_element(part_y, rule.parts_y, region.y.elements);
            end_p = first_element(part_y + 1u32, rule.parts_y, region.y.elements);
            first_q = first_element(part_x, rule.parts_x, region.x.elements);
            end_q = first_element(part_x + 1u32, rule.parts_x, region.x.elements);
        }
        if !region.pooled {
            end_p = first_p;
        }
        for p in first_p..end_p {
            for q in first_q..end_q {
                add_element(
                    gradient,
                    features,
                    boxes,
                    rule,
                    &region,
                    p,
                    q,
                    &mut of_region,
                    compiled.channels,
                );
            }
        }
        if offsets > 0usize {
            write_end(output, row, 4 + part, of_region.offset_x, &mut shared);
            write_end(output, row, 4 + offsets + part, of_region.offset_y, &mut shared);
        }
    }
    write_end(output, row, 0usize.runtime(), of_region.x1, &mut shared);
    write_end(output, row, 1usize.runtime(), of_region.y1, &mut shared);
    write_end(output, row, 2usize.runtime(), of_region.x2, &mut shared);
    write_end(output, row, 3usize.runtime(), of_region.y2, &mut shared);
    if rule.placement == ROTATED {
        write_end(output, row, 4usize.runtime(), of_region.angle, &mut shared);
    }
}

/// The first element whose offset is that of a part or of one after it: `element * parts / elements` reaches `part`.
#[cube]
fn first_element(part: u32, parts: u32, elements: u32) -> u32 {
    (part * elements).div_ceil(parts)
}

/// Adds what an element gives in the channels of this unit.
#[cube]
#[allow(clippy::too_many_arguments)]
fn add_element<F: Float, R: Float>(
    gradient: &Tensor<F>,
    features: &Tensor<F>,
    boxes: &Tensor<R>,
    rule: &PointRule,
    region: &PointRegion,
    p: u32,
    q: u32,
    of_region: &mut OfRegion,
    #[comptime] of_channels: Channels,
) {
    let (height, width) = (region.y.size, region.x.size);
    let offset = read_offset(boxes, rule, region, p, q);
    let places = places_of_pixels(rule, &region.turn, 0u32, height - 1u32, 0u32, width - 1u32);
    let rows = samples_between(rule, &region.y, p, offset.shift_y, places.low_y, places.high_y);
    let columns = samples_between(rule, &region.x, q, offset.shift_x, places.low_x, places.high_x);
    let mut rows_end = rows.end;
    if !offset_is_finite(&offset) {
        rows_end = rows.first;
    }
    let mut samples = region.y.samples as f32 * region.x.samples as f32;
    if rule.ignores_out_of_bounds == 1u32 {
        samples = 0.0;
        for sample_y in rows.first..rows_end {
            let place_y = place(rule, &region.y, p, sample_y, offset.shift_y);
            for sample_x in columns.first..columns.end {
                let place_x = place(rule, &region.x, q, sample_x, offset.shift_x);
                if reads(rule, &turned(rule, &region.turn, place_y, place_x), height, width) {
                    samples += 1.0;
                }
            }
        }
    }
    for sample_y in rows.first..rows_end {
        let place_y = place(rule, &region.y, p, sample_y, offset.shift_y);
        for sample_x in columns.first..columns.end {
            let place_x = place(rule, &region.x, q, sample_x, offset.shift_x);
            let point = turned(rule, &region.turn, place_y, place_x);
            if reads(rule, &point, height, width) {
                let sample = (sample_y * region.x.samples + sample_x) as usize;
                let slope = slope(gradient, features, region, &point, p, q, sample, of_channels);
                let along_y = slope.y * fraction_slope(point.y, height) / samples;
                let along_x = slope.x * fraction_slope(point.x, width) / samples;
                let places = Point { y: place_y, x: place_x };
                add_sample(
                    rule, region, &offset, &places, p, q, sample_y, sample_x, along_y, along_x, of_region,
                );
            }
        }
    }
}

/// By how much the sum of this unit's channels, each times its gradient, grows with the position of a sample.
#[cube]
#[allow(clippy::too_many_arguments)]
fn slope<F: Float>(
    gradient: &Tensor<F>,
    features: &Tensor<F>,
    region: &PointRegion,
    point: &Point,
    p: u32,
    q: u32,
    sample: usize,
    #[comptime] of_channels: Channels,
) -> Point {
    let y = bilinear_taps(point.y, region.y.size);
    let x = bilinear_taps(point.x, region.x.size);
    let (low, high) = (
        y.low as usize * features.stride(2),
        y.high as usize * features.stride(2),
    );
    let (left, right) = (
        x.low as usize * features.stride(3),
        x.high as usize * features.stride(3),
    );
    let of_element =
        region.row * gradient.stride(0) + p as usize * gradient.stride(2) + q as usize * gradient.stride(3);
    let channels = gradient.shape(1);
    let mut down = 0.0f32;
    let mut across = 0.0f32;
    let mut channel = UNIT_POS as usize;
    while channel < channels {
        let mut input = channel;
        if comptime!(of_channels == Channels::OfElements) {
            input = (channel * gradient.shape(2) + p as usize) * gradient.shape(3) + q as usize;
        }
        if comptime!(of_channels == Channels::OfSamples) {
            input = sample * channels + channel;
        }
        let plane = region.image * features.stride(0) + input * features.stride(1);
        let pixel_11 = f32::cast_from(features[plane + low + left]);
        let pixel_12 = f32::cast_from(features[plane + low + right]);
        let pixel_21 = f32::cast_from(features[plane + high + left]);
        let pixel_22 = f32::cast_from(features[plane + high + right]);
        let of_channel = f32::cast_from(gradient[of_element + channel * gradient.stride(1)]);
        down += of_channel * ((1.0 - x.fraction) * (pixel_21 - pixel_11) + x.fraction * (pixel_22 - pixel_12));
        across += of_channel * ((1.0 - y.fraction) * (pixel_12 - pixel_11) + y.fraction * (pixel_22 - pixel_21));
        channel += UNITS;
    }
    Point { y: down, x: across }
}

/// Adds what a sample gives the numbers of its region. `along_y` and `along_x` are by how much the result grows with
/// the sample's position.
#[cube]
#[allow(clippy::too_many_arguments)]
fn add_sample(
    rule: &PointRule,
    region: &PointRegion,
    offset: &ElementOffset,
    places: &Point,
    p: u32,
    q: u32,
    sample_y: u32,
    sample_x: u32,
    along_y: f32,
    along_x: f32,
    of_region: &mut OfRegion,
) {
    let y = place_slopes(rule, &region.y, p, sample_y, offset.y);
    let x = place_slopes(rule, &region.x, q, sample_x, offset.x);
    if rule.placement == ROTATED {
        let turn = &region.turn;
        let angle = angle_slopes(rule, turn, places.y, places.x);
        of_region.x1 += rule.spatial_scale * along_x;
        of_region.y1 += rule.spatial_scale * along_y;
        of_region.x2 += x.high * (turn.cosine * along_x - turn.sine * along_y);
        of_region.y2 += y.high * (turn.cosine * along_y + turn.sine * along_x);
        of_region.angle += angle.y * along_y + angle.x * along_x;
    } else {
        of_region.x1 += x.low * along_x;
        of_region.y1 += y.low * along_y;
        of_region.x2 += x.high * along_x;
        of_region.y2 += y.high * along_y;
        of_region.offset_y += y.offset * along_y;
        of_region.offset_x += x.offset * along_x;
    }
}

/// The gradient of regions, `[K, columns]`.
pub fn regions_gradient(
    gradient: CubeTensor,
    features: CubeTensor,
    boxes: CubeTensor,
    batch_indices: CubeTensor,
    operator: &RegionOperator,
    grid: &PointGrid,
) -> CubeTensor {
    let client = gradient.client.clone();
    let output = empty_device_contiguous_dtype(client.clone(), gradient.device.clone(), boxes.shape(), boxes.dtype);
    let (dtype, box_dtype, index_dtype) = (gradient.dtype, boxes.dtype, batch_indices.dtype);
    let addresses = address_type([&gradient, &features, &boxes, &batch_indices, &output]);
    let areas = area_rule(&operator.areas);
    pull_points::launch(
        &client,
        cube_count(boxes.shape()[0]),
        CubeDim::new_1d(UNITS as u32),
        addresses,
        gradient.into_tensor_arg(),
        features.into_tensor_arg(),
        boxes.into_tensor_arg(),
        batch_indices.into_tensor_arg(),
        output.clone().into_tensor_arg(),
        point_rule(rules::point_rule(grid)),
        AreaRuleLaunch::new(areas.from, areas.below),
        Compiled::new(operator),
        dtype_to_storage_type(dtype),
        dtype_to_storage_type(box_dtype),
        dtype_to_storage_type(index_dtype),
    );
    output
}
