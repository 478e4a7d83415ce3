//! How what is read at a position changes as the position moves.

use cubecl::prelude::*;

use crate::backend::cube::unit::winner::Winner;
use crate::geometry::real::single::points::Point;
use crate::geometry::real::single::samples::{SampleRule, Taps, taps};
use crate::geometry::real::single::slopes::weight_slope;

/// By how much what is read grows as the position grows by 1.
#[derive(CubeType)]
pub struct Slope {
    pub along_y: f32,
    pub along_x: f32,
}

/// The slope of a sample.
#[cube]
pub fn slope_at<F: Float>(
    features: &Tensor<F>,
    rule_y: &SampleRule,
    rule_x: &SampleRule,
    plane: usize,
    point: &Point,
    #[comptime] flat_on_pixels: bool,
) -> Slope {
    let (height, width) = (features.shape(2) as u32, features.shape(3) as u32);
    let (row_step, step) = (features.stride(2), features.stride(3));
    let y = taps(rule_y, point.y, height);
    let x = taps(rule_x, point.x, width);
    let of_pixels = slope_of_pixels(features, plane, &y, &x, row_step, step);
    Slope {
        along_y: of_pixels.along_y * weight_slope(rule_y, point.y, height, flat_on_pixels.runtime()),
        along_x: of_pixels.along_x * weight_slope(rule_x, point.x, width, flat_on_pixels.runtime()),
    }
}

/// The slope between the four pixels of a sample, by its distance from them.
#[cube]
pub fn slope_of_pixels<F: Float>(
    features: &Tensor<F>,
    plane: usize,
    y: &Taps,
    x: &Taps,
    row_step: usize,
    step: usize,
) -> Slope {
    let (low, high) = (y.low as usize * row_step, y.high as usize * row_step);
    let (left, right) = (x.low as usize * step, x.high as usize * step);
    let pixel_11 = f32::cast_from(features[plane + low + left]);
    let pixel_12 = f32::cast_from(features[plane + low + right]);
    let pixel_21 = f32::cast_from(features[plane + high + left]);
    let pixel_22 = f32::cast_from(features[plane + high + right]);
    Slope {
        along_y: (1.0 - x.fraction) * (pixel_21 - pixel_11) + x.fraction * (pixel_22 - pixel_12),
        along_x: (1.0 - y.fraction) * (pixel_12 - pixel_11) + y.fraction * (pixel_22 - pixel_21),
    }
}

/// The slope of the corner of a sample that is the winner, times its weight.
#[cube]
pub fn slope_of_corner<F: Float>(
    features: &Tensor<F>,
    rule_y: &SampleRule,
    rule_x: &SampleRule,
    plane: usize,
    point: &Point,
    winner: &Winner,
    #[comptime] flat_on_pixels: bool,
) -> Slope {
    let (height, width) = (features.shape(2) as u32, features.shape(3) as u32);
    let y = taps(rule_y, point.y, height);
    let x = taps(rule_x, point.x, width);
    let mut row = y.low;
    let mut weight_y = 1.0 - y.fraction;
    let mut slope_y = -weight_slope(rule_y, point.y, height, flat_on_pixels.runtime());
    if winner.high_y == 1u32 {
        row = y.high;
        weight_y = y.fraction;
        slope_y = -slope_y;
    }
    let mut column = x.low;
    let mut weight_x = 1.0 - x.fraction;
    let mut slope_x = -weight_slope(rule_x, point.x, width, flat_on_pixels.runtime());
    if winner.high_x == 1u32 {
        column = x.high;
        weight_x = x.fraction;
        slope_x = -slope_x;
    }
    let pixel =
        f32::cast_from(features[plane + row as usize * features.stride(2) + column as usize * features.stride(3)]);
    Slope {
        along_y: slope_y * weight_x * pixel,
        along_x: weight_y * slope_x * pixel,
    }
}
