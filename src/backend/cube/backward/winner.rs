//! What a maximum of an element was read from: its samples or pixels are read again, in the order of the forward pass.

use cubecl::prelude::*;

use crate::backend::cube::unit::BoxRow;
use crate::geometry::options::Reduction;
use crate::geometry::real::single::bins::{BinRule, bin, extent};
use crate::geometry::real::single::samples::{SampleRule, axis, in_bounds, position, taps};

/// Where a maximum was read.
#[derive(CubeType)]
pub struct Winner {
    /// Whether it was read from the map.
    pub found: bool,
    /// The position; a pixel where pixels take part one by one.
    pub y: f32,
    pub x: f32,
    /// The weight of that pixel, 1 elsewhere.
    pub weight: f32,
    /// The numbers of the sample within its element.
    pub sample_y: u32,
    pub sample_x: u32,
    /// Which of the sample's pixels it was, where these take part one by one: 1 for the second.
    pub high_y: u32,
    pub high_x: u32,
}

/// The element whose maximum is looked for.
#[derive(CubeType)]
pub struct Place {
    pub row: u32,
    pub column: u32,
    /// The size of the output.
    pub rows: u32,
    pub columns: u32,
    /// Where pixel 0 of its channel lies.
    pub plane: usize,
}

#[cube]
pub fn nothing() -> Winner {
    Winner {
        found: false,
        y: 0.0,
        x: 0.0,
        weight: 1.0,
        sample_y: 0u32,
        sample_x: 0u32,
        high_y: 0u32,
        high_x: 0u32,
    }
}

/// The first of the largest samples of an element that is above `start` and not below the out-of-bounds value where
/// that takes part.
#[cube]
#[allow(clippy::too_many_arguments)]
pub fn winner_of_samples<F: Float>(
    features: &Tensor<F>,
    rule_y: &SampleRule,
    rule_x: &SampleRule,
    region: &BoxRow,
    place: &Place,
    start: f32,
    outside: f32,
    #[comptime] reduction: Reduction,
) -> Winner {
    let (height, width) = (features.shape(2) as u32, features.shape(3) as u32);
    let (row_step, step) = (features.stride(2), features.stride(3));
    let axis_y = axis(rule_y, region.y1, region.y2, place.rows);
    let axis_x = axis(rule_x, region.x1, region.x2, place.columns);
    let rows = in_bounds(rule_y, &axis_y, place.row, height);
    let columns = in_bounds(rule_x, &axis_x, place.column, width);
    let mut winner = nothing();
    let mut maximum = start;
    for sample_y in rows.first..rows.end {
        let at_y = position(rule_y, &axis_y, place.row, sample_y);
        let y = taps(rule_y, at_y, height);
        for sample_x in columns.first..columns.end {
            let at_x = position(rule_x, &axis_x, place.column, sample_x);
            let x = taps(rule_x, at_x, width);
            let (low, high) = (y.low as usize * row_step, y.high as usize * row_step);
            let (left, right) = (x.low as usize * step, x.high as usize * step);
            let weight_11 = (1.0 - y.fraction) * (1.0 - x.fraction);
            let weight_12 = (1.0 - y.fraction) * x.fraction;
            let weight_21 = y.fraction * (1.0 - x.fraction);
            let weight_22 = y.fraction * x.fraction;
            let corner_11 = weight_11 * f32::cast_from(features[place.plane + low + left]);
            let corner_12 = weight_12 * f32::cast_from(features[place.plane + low + right]);
            let corner_21 = weight_21 * f32::cast_from(features[place.plane + high + left]);
            let corner_22 = weight_22 * f32::cast_from(features[place.plane + high + right]);
            let mut wins = false;
            if comptime!(reduction == Reduction::MaxOfWeightedCorners) {
                if corner_11 > maximum {
                    maximum = corner_11;
                    wins = true;
                    winner.y = y.low as f32;
                    winner.x = x.low as f32;
                    winner.weight = weight_11;
                    winner.high_y = 0u32;
                    winner.high_x = 0u32;
                }
                if corner_12 > maximum {
                    maximum = corner_12;
                    wins = true;
                    winner.y = y.low as f32;
                    winner.x = x.high as f32;
                    winner.weight = weight_12;
                    winner.high_y = 0u32;
                    winner.high_x = 1u32;
                }
                if corner_21 > maximum {
                    maximum = corner_21;
                    wins = true;
                    winner.y = y.high as f32;
                    winner.x = x.low as f32;
                    winner.weight = weight_21;
                    winner.high_y = 1u32;
                    winner.high_x = 0u32;
                }
                if corner_22 > maximum {
                    maximum = corner_22;
                    wins = true;
                    winner.y = y.high as f32;
                    winner.x = x.high as f32;
                    winner.weight = weight_22;
                    winner.high_y = 1u32;
                    winner.high_x = 1u32;
                }
            } else {
                let sample = (corner_11 + corner_12) + (corner_21 + corner_22);
                if sample > maximum {
                    maximum = sample;
                    wins = true;
                    winner.y = at_y;
                    winner.x = at_x;
                }
            }
            if wins {
                winner.found = true;
                winner.sample_y = sample_y;
                winner.sample_x = sample_x;
            }
        }
    }
    let complete = rows.end - rows.first == axis_y.samples && columns.end - columns.first == axis_x.samples;
    if !complete && outside > maximum {
        winner.found = false;
    }
    winner
}

/// The first of the largest pixels of a bin that is above `start`, row by row.
#[cube]
pub fn winner_of_bin<F: Float>(
    features: &Tensor<F>,
    rule_y: &BinRule,
    rule_x: &BinRule,
    region: &BoxRow,
    place: &Place,
    start: f32,
) -> Winner {
    let (height, width) = (features.shape(2) as u32, features.shape(3) as u32);
    let (row_step, step) = (features.stride(2), features.stride(3));
    let extent_y = extent(rule_y, region.y1, region.y2, place.rows);
    let extent_x = extent(rule_x, region.x1, region.x2, place.columns);
    let bin_y = bin(rule_y, &extent_y, place.row, place.rows, height);
    let bin_x = bin(rule_x, &extent_x, place.column, place.columns, width);
    let mut winner = nothing();
    let mut maximum = start;
    for y in bin_y.start..bin_y.end {
        for x in bin_x.start..bin_x.end {
            let number = f32::cast_from(features[place.plane + y as usize * row_step + x as usize * step]);
            if number > maximum {
                maximum = number;
                winner.found = true;
                winner.y = y as f32;
                winner.x = x as f32;
            }
        }
    }
    winner
}
