//! How the mean of the bilinear map over a bin changes with the ends of its box.

use cubecl::prelude::*;

use super::ends::EndsGradient;
use crate::backend::cube::unit::winner::ChannelElement;
use crate::geometry::real::single::integrals::{IntegralRule, bin, extent, pixels, weight, weight_slope};

/// Adds what an element whose gradient is `gradient` gives the ends of its box.
#[cube]
pub fn add_integral<F: Float>(
    features: &Tensor<F>,
    rule_y: &IntegralRule,
    rule_x: &IntegralRule,
    element: &ChannelElement<'_>,
    gradient: f32,
    of_ends: &mut EndsGradient,
) {
    let bin_y = bin(
        &extent(rule_y, element.region.y1, element.region.y2, element.rows),
        element.row,
    );
    let bin_x = bin(
        &extent(rule_x, element.region.x1, element.region.x2, element.columns),
        element.column,
    );
    let rows = pixels(&bin_y, features.shape(2) as u32);
    let columns = pixels(&bin_x, features.shape(3) as u32);
    let row_step = features.stride(2);
    let step = features.stride(3);
    for y in rows.first..rows.end {
        let mut by_weight = 0.0f32;
        let mut by_low = 0.0f32;
        let mut by_high = 0.0f32;
        for x in columns.first..columns.end {
            let pixel = f32::cast_from(features[element.plane + y as usize * row_step + x as usize * step]);
            let slope = weight_slope(rule_x, &bin_x, element.column, element.columns, x);
            by_weight += weight(&bin_x, x) * pixel;
            by_low += slope.low * pixel;
            by_high += slope.high * pixel;
        }
        let slope = weight_slope(rule_y, &bin_y, element.row, element.rows, y);
        of_ends.y1 += gradient * slope.low * by_weight;
        of_ends.y2 += gradient * slope.high * by_weight;
        let weight_y = gradient * weight(&bin_y, y);
        of_ends.x1 += weight_y * by_low;
        of_ends.x2 += weight_y * by_high;
    }
}
