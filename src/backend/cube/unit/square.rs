//! The four pixels of a sample.

use cubecl::prelude::*;

use crate::geometry::real::single::samples::Taps;

/// The four pixels: where they lie in a channel, and their weights.
#[derive(CubeType)]
pub struct Square {
    offset_11: usize,
    offset_12: usize,
    offset_21: usize,
    offset_22: usize,
    pub weight_11: f32,
    pub weight_12: f32,
    pub weight_21: f32,
    pub weight_22: f32,
}

#[cube]
pub fn square(y: &Taps, x: &Taps, row_step: usize, step: usize) -> Square {
    let (low, high) = (y.low as usize * row_step, y.high as usize * row_step);
    let (left, right) = (x.low as usize * step, x.high as usize * step);
    let (rest_y, rest_x) = (1.0 - y.fraction, 1.0 - x.fraction);
    Square {
        offset_11: low + left,
        offset_12: low + right,
        offset_21: high + left,
        offset_22: high + right,
        weight_11: rest_y * rest_x,
        weight_12: rest_y * x.fraction,
        weight_21: y.fraction * rest_x,
        weight_22: y.fraction * x.fraction,
    }
}

/// The pixels of a square in a channel, each times its weight.
#[derive(CubeType)]
pub struct Corners {
    pub value_11: f32,
    pub value_12: f32,
    pub value_21: f32,
    pub value_22: f32,
}

#[cube]
pub fn corners<F: Float>(features: &Tensor<F>, plane: usize, square: &Square) -> Corners {
    Corners {
        value_11: square.weight_11 * f32::cast_from(features[plane + square.offset_11]),
        value_12: square.weight_12 * f32::cast_from(features[plane + square.offset_12]),
        value_21: square.weight_21 * f32::cast_from(features[plane + square.offset_21]),
        value_22: square.weight_22 * f32::cast_from(features[plane + square.offset_22]),
    }
}

/// The weighted mean of the four pixels.
#[cube]
pub fn sample_of(corners: &Corners) -> f32 {
    (corners.value_11 + corners.value_12) + (corners.value_21 + corners.value_22)
}
