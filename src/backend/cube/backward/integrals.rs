//! How the mean of the bilinear map over a bin changes with the ends of its region.

use cubecl::prelude::*;

use super::boxes::OfEnds;
use super::winner::Place;
use crate::backend::cube::unit::BoxRow;
use crate::geometry::real::single::integrals::{IntegralRule, bin, extent, pixels, weight, weight_slope};

/// Adds what an element whose gradient is `gradient` gives the ends of its region.
#[cube]
pub fn add_integral<F: Float>(
    features: &Tensor<F>,
    rule_y: &IntegralRule,
    rule_x: &IntegralRule,
    region: &BoxRow,
    place: &Place,
    gradient: f32,
    of_ends: &mut OfEnds,
) {
    let bin_y = bin(&extent(rule_y, region.y1, region.y2, place.rows), place.row);
    let bin_x = bin(&extent(rule_x, region.x1, region.x2, place.columns), place.column);
    let rows = pixels(&bin_y, features.shape(2) as u32);
    let columns = pixels(&bin_x, features.shape(3) as u32);
    let row_step = features.stride(2);
    let step = features.stride(3);
    for y in rows.first..rows.end {
        let mut by_weight = 0.0f32;
        let mut by_low = 0.0f32;
        let mut by_high = 0.0f32;
        for x in columns.first..columns.end {
            let pixel = f32::cast_from(features[place.plane + y as usize * row_step + x as usize * step]);
            let slope = weight_slope(rule_x, &bin_x, place.column, place.columns, x);
            by_weight += weight(&bin_x, x) * pixel;
            by_low += slope.low * pixel;
            by_high += slope.high * pixel;
        }
        let slope = weight_slope(rule_y, &bin_y, place.row, place.rows, y);
        of_ends.y1 += gradient * slope.low * by_weight;
        of_ends.y2 += gradient * slope.high * by_weight;
        let weight_y = gradient * weight(&bin_y, y);
        of_ends.x1 += weight_y * by_low;
        of_ends.x2 += weight_y * by_high;
    }
}
