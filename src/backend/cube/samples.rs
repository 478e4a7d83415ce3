//! Elements that read samples between pixels.

use cubecl::prelude::*;

use super::kernel::Compiled;
use super::unit::{BoxRow, CHANNELS, Element, Units, planes, sizes, write};
use crate::geometry::options::Reduction;
use crate::geometry::real::single::samples::{SampleRule, Taps, axis, in_bounds, position, taps};

/// Pools an element in all channels of its unit. `start` is where a sum or a maximum starts.
#[cube]
#[allow(clippy::too_many_arguments)]
pub fn pool_samples<F: Float>(
    features: &Tensor<F>,
    output: &mut Tensor<F>,
    units: &Units,
    element: &Element,
    region: &BoxRow,
    rule_y: &SampleRule,
    rule_x: &SampleRule,
    start: f32,
    outside: f32,
    #[comptime] compiled: Compiled,
) {
    let height = features.shape(2) as u32;
    let width = features.shape(3) as u32;
    let sizes = sizes(output);
    let axis_y = axis(rule_y, region.y1, region.y2, sizes.rows as u32);
    let axis_x = axis(rule_x, region.x1, region.x2, sizes.columns as u32);
    let rows = in_bounds(rule_y, &axis_y, element.row as u32, height);
    let mut rows_end = rows.end;
    if !region.valid {
        rows_end = rows.first;
    }
    let columns = in_bounds(rule_x, &axis_x, element.column as u32, width);

    let samples = axis_y.samples as f32 * axis_x.samples as f32;
    let count_in_bounds = (rows_end - rows.first) as f32 * (columns.end - columns.first) as f32;
    // Read before the loops: a device compiler does not hoist a read that may not be reached.
    let row_step = features.stride(2);
    let step = features.stride(3);
    for block in 0..units.blocks {
        let first = element.channel + block * CHANNELS;
        let planes = planes(features, region.image, element, first, &sizes, compiled.channel_map);
        let mut results = Array::<f32>::new(CHANNELS);
        #[unroll]
        for channel in 0..CHANNELS {
            results[channel] = start;
        }
        for sample_y in rows.first..rows_end {
            let place_y = position(rule_y, &axis_y, element.row as u32, sample_y);
            let y = taps(rule_y, place_y, height);
            for sample_x in columns.first..columns.end {
                let place_x = position(rule_x, &axis_x, element.column as u32, sample_x);
                let x = taps(rule_x, place_x, width);
                add_sample(
                    features,
                    &planes,
                    row_step,
                    step,
                    &y,
                    &x,
                    &mut results,
                    compiled.reduction,
                );
            }
        }
        add_out_of_bounds(&mut results, samples, count_in_bounds, outside, compiled.reduction);
        write(output, element, first, &results);
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
fn add_out_of_bounds(
    results: &mut Array<f32>,
    samples: f32,
    count_in_bounds: f32,
    outside: f32,
    #[comptime] reduction: Reduction,
) {
    // By shares: ten times a value of -3e38 is infinite.
    let share = 1.0 / samples;
    let missing = outside * ((samples - count_in_bounds) * share);
    #[unroll]
    for channel in 0..CHANNELS {
        let mut result = outside;
        if count_in_bounds > 0.0 {
            result = results[channel];
            if comptime!(reduction == Reduction::Average) {
                result = result * share + missing;
            } else if count_in_bounds < samples {
                result = result.max(outside);
            }
        }
        results[channel] = result;
    }
}
