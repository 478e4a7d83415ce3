//! Samples of regions, reduced: a unit computes one place of the output in a few channels.

use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::region::{CHANNELS, Launch, Units, place, planes, read_region, write};
use crate::geometry::convention::{Reduction, RegionSamples};
use crate::geometry::plan::Coordinate;
use crate::geometry::single::area::{AreaRule, AreaRuleLaunch, in_range};
use crate::geometry::single::axis::{AxisRule, AxisRuleLaunch, Taps, axis, position, taps, visible};

#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)]
fn sample_regions<F: Float, I: Int>(
    features: &Tensor<F>,
    boxes: &Tensor<F>,
    batch_indices: &Tensor<I>,
    output: &mut Tensor<F>,
    units: &Units,
    rule_y: &AxisRule,
    rule_x: &AxisRule,
    areas: &AreaRule,
    least: f32,
    outside: f32,
    #[comptime] columns: [usize; 4],
    #[comptime] reduction: Reduction,
    #[define(F)] _dtype: cubecl::ir::ElemType,
    #[define(I)] _index_dtype: cubecl::ir::ElemType,
) {
    if ABSOLUTE_POS >= units.total {
        terminate!();
    }
    let place = place(units);
    let region = read_region(boxes, batch_indices, place.region, features.shape(0), columns);
    if !in_range(areas, region.y1, region.x1, region.y2, region.x2) {
        terminate!();
    }

    let height = features.shape(2) as u32;
    let width = features.shape(3) as u32;
    let axis_y = axis(rule_y, region.y1, region.y2, output.shape(2) as u32);
    let axis_x = axis(rule_x, region.x1, region.x2, output.shape(3) as u32);
    let rows = visible(rule_y, &axis_y, place.row as u32, height);
    let mut rows_end = rows.end;
    if !region.valid {
        rows_end = rows.first;
    }
    let columns_seen = visible(rule_x, &axis_x, place.column as u32, width);

    let samples = axis_y.samples as f32 * axis_x.samples as f32;
    let seen = (rows_end - rows.first) as f32 * (columns_seen.end - columns_seen.first) as f32;
    // Read before the loops: a device compiler does not move what may not be reached.
    let row_step = features.stride(2);
    let step = features.stride(3);
    for block in 0..units.blocks {
        let first = place.channel + block * CHANNELS;
        let planes = planes(features, region.image, first);
        let mut results = Array::<f32>::new(CHANNELS);
        #[unroll]
        for channel in 0..CHANNELS {
            results[channel] = least;
        }
        for sample_y in rows.first..rows_end {
            let place_y = position(rule_y, &axis_y, place.row as u32, sample_y);
            let y = taps(rule_y, place_y, height);
            for sample_x in columns_seen.first..columns_seen.end {
                let place_x = position(rule_x, &axis_x, place.column as u32, sample_x);
                let x = taps(rule_x, place_x, width);
                add_sample(features, &planes, row_step, step, &y, &x, &mut results, reduction);
            }
        }
        add_unseen(&mut results, samples, seen, outside, reduction);
        write(output, &place, first, &results);
    }
}

/// Reduces one more sample, in all channels of a block.
#[cube]
#[allow(clippy::too_many_arguments)]
fn add_sample<F: Float>(
    features: &Tensor<F>,
    planes: &Array<usize>,
    row_step: usize,
    step: usize,
    y: &Taps,
    x: &Taps,
    results: &mut Array<f32>,
    #[comptime] reduction: Reduction,
) {
    let (low, high) = (y.low as usize * row_step, y.high as usize * row_step);
    let (left, right) = (x.low as usize * step, x.high as usize * step);
    let weight_11 = (1.0 - y.fraction) * (1.0 - x.fraction);
    let weight_12 = (1.0 - y.fraction) * x.fraction;
    let weight_21 = y.fraction * (1.0 - x.fraction);
    let weight_22 = y.fraction * x.fraction;
    #[unroll]
    for channel in 0..CHANNELS {
        let plane = planes[channel];
        let pixel_11 = f32::cast_from(features[plane + low + left]);
        let pixel_12 = f32::cast_from(features[plane + low + right]);
        let pixel_21 = f32::cast_from(features[plane + high + left]);
        let pixel_22 = f32::cast_from(features[plane + high + right]);
        if comptime!(reduction == Reduction::Average) {
            results[channel] += weight_11 * pixel_11;
            results[channel] += weight_12 * pixel_12;
            results[channel] += weight_21 * pixel_21;
            results[channel] += weight_22 * pixel_22;
        } else {
            let (corner_11, corner_12) = (weight_11 * pixel_11, weight_12 * pixel_12);
            let (corner_21, corner_22) = (weight_21 * pixel_21, weight_22 * pixel_22);
            if comptime!(reduction == Reduction::MaxOfWeightedCorners) {
                let above = corner_11.max(corner_12);
                let below = corner_21.max(corner_22);
                results[channel] = results[channel].max(above.max(below));
            } else {
                let sample = (corner_11 + corner_12) + (corner_21 + corner_22);
                results[channel] = results[channel].max(sample);
            }
        }
    }
}

/// Ends the reduction with the samples out of bounds.
#[cube]
fn add_unseen(results: &mut Array<f32>, samples: f32, seen: f32, outside: f32, #[comptime] reduction: Reduction) {
    // By shares: ten times a value of -3e38 is infinite.
    let share = 1.0 / samples;
    let unseen = outside * ((samples - seen) * share);
    #[unroll]
    for channel in 0..CHANNELS {
        let mut result = outside;
        if seen > 0.0 {
            result = results[channel];
            if comptime!(reduction == Reduction::Average) {
                result = result * share + unseen;
            } else if seen < samples {
                result = result.max(outside);
            }
        }
        results[channel] = result;
    }
}

/// See [`RegionKernels::sample_regions`](crate::RegionKernels::sample_regions)
/// and [`sample_level`](crate::RegionKernels::sample_level), which is given what other levels have pooled.
pub fn launch(
    pooled: Option<CubeTensor>,
    features: CubeTensor,
    boxes: CubeTensor,
    batch_indices: CubeTensor,
    sampling: &RegionSamples,
) -> CubeTensor {
    let size = sampling.output_size;
    let launch = Launch::new(pooled, &features, &boxes, &batch_indices, size);
    let areas = f32::area_rule(&sampling.areas);
    let outside = sampling.outside() as f32;
    let (reduction, least) = match sampling.reduction {
        Reduction::Average => (Reduction::Average, 0.0),
        // Where a maximum starts is a number; the kernel is the same.
        Reduction::MaxFromZero => (Reduction::Max, 0.0),
        reduction => (reduction, -f32::MAX),
    };
    sample_regions::launch(
        &features.client.clone(),
        launch.count,
        launch.dim,
        launch.address,
        features.into_tensor_arg(),
        boxes.into_tensor_arg(),
        batch_indices.into_tensor_arg(),
        launch.output.clone().into_tensor_arg(),
        launch.units,
        rule(f32::axis_rule(&sampling.y)),
        rule(f32::axis_rule(&sampling.x)),
        AreaRuleLaunch::new(areas.from, areas.below),
        least,
        outside,
        sampling.columns,
        reduction,
        launch.dtype,
        launch.index_dtype,
    );
    launch.output
}

/// A rule as arguments of a kernel: at run time, so that another scale compiles nothing anew.
fn rule(rule: AxisRule) -> AxisRuleLaunch {
    AxisRuleLaunch::new(
        rule.scale,
        rule.box_offset,
        rule.input_offset,
        rule.output_offset,
        rule.minimum_length,
        rule.minimum_samples,
        rule.maximum_samples,
        rule.lower_bound,
        rule.upper_margin,
        rule.corners,
        rule.order,
        rule.interpolation,
    )
}
