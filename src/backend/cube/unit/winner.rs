//! Where a maximum of an element was read: its samples or pixels are read again, in the order of the forward pass.

use cubecl::prelude::*;

use super::plan::ReductionPlan;
use super::region::BoxRow;
use super::square::{Corners, Square, corners, sample_of, square};
use crate::geometry::options::Reduction;
use crate::geometry::real::single::samples::{SampleRule, Taps, axis, in_bounds, position, taps};

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
    /// The indices of the sample within its element.
    pub sample_y: u32,
    pub sample_x: u32,
    /// Which of the sample's pixels it was, where these take part one by one: 1 for the second.
    pub high_y: u32,
    pub high_x: u32,
    /// The maximum so far.
    maximum: f32,
}

/// An output element in one channel.
#[derive(CubeType)]
pub struct ChannelElement<'a> {
    pub region: &'a BoxRow,
    pub row: u32,
    pub column: u32,
    /// The size of the output.
    pub rows: u32,
    pub columns: u32,
    /// Where pixel 0 of the channel lies.
    pub plane: usize,
}

#[cube]
pub fn channel_element<'a>(
    region: &'a BoxRow,
    row: u32,
    column: u32,
    rows: u32,
    columns: u32,
    plane: usize,
) -> ChannelElement<'a> {
    ChannelElement::<'a> {
        region,
        row,
        column,
        rows,
        columns,
        plane,
    }
}

/// The first of the largest samples of an element that is above the plan's start, and not below the out-of-bounds value
/// where that takes part.
#[cube]
pub fn winner_of_samples<F: Float>(
    features: &Tensor<F>,
    rule_y: &SampleRule,
    rule_x: &SampleRule,
    element: &ChannelElement<'_>,
    plan: &ReductionPlan,
) -> Winner {
    let (height, width) = (features.shape(2) as u32, features.shape(3) as u32);
    let (row_step, step) = (features.stride(2), features.stride(3));
    let axis_y = axis(rule_y, element.region.y1, element.region.y2, element.rows);
    let axis_x = axis(rule_x, element.region.x1, element.region.x2, element.columns);
    let rows = in_bounds(rule_y, &axis_y, element.row, height);
    let columns = in_bounds(rule_x, &axis_x, element.column, width);
    let mut winner = Winner {
        found: false,
        y: 0.0,
        x: 0.0,
        weight: 1.0,
        sample_y: 0u32,
        sample_x: 0u32,
        high_y: 0u32,
        high_x: 0u32,
        maximum: plan.start,
    };
    for sample_y in rows.first..rows.end {
        let at_y = position(rule_y, &axis_y, element.row, sample_y);
        let y = taps(rule_y, at_y, height);
        for sample_x in columns.first..columns.end {
            let at_x = position(rule_x, &axis_x, element.column, sample_x);
            let x = taps(rule_x, at_x, width);
            let square = square(&y, &x, row_step, step);
            let corners = corners(features, element.plane, &square);
            let wins = if comptime!(plan.settings.reduction == Reduction::MaxOfWeightedCorners) {
                compare_corners(&mut winner, &corners, &square, &y, &x)
            } else {
                compare_sample(&mut winner, sample_of(&corners), at_y, at_x)
            };
            if wins {
                winner.found = true;
                winner.sample_y = sample_y;
                winner.sample_x = sample_x;
            }
        }
    }
    let complete = rows.end - rows.first == axis_y.samples && columns.end - columns.first == axis_x.samples;
    if !complete && plan.outside > winner.maximum {
        winner.found = false;
    }
    winner
}

/// Compares a sample with the maximum, and returns whether it is larger.
#[cube]
fn compare_sample(winner: &mut Winner, sample: f32, at_y: f32, at_x: f32) -> bool {
    let wins = sample > winner.maximum;
    if wins {
        winner.maximum = sample;
        winner.y = at_y;
        winner.x = at_x;
    }
    wins
}

/// Compares the corners of a sample with the maximum one by one, and returns whether one of them is larger.
#[cube]
fn compare_corners(winner: &mut Winner, corners: &Corners, square: &Square, y: &Taps, x: &Taps) -> bool {
    let mut wins = compare_corner(winner, corners.value_11, square.weight_11, y, x, 0u32, 0u32);
    wins = compare_corner(winner, corners.value_12, square.weight_12, y, x, 0u32, 1u32) || wins;
    wins = compare_corner(winner, corners.value_21, square.weight_21, y, x, 1u32, 0u32) || wins;
    compare_corner(winner, corners.value_22, square.weight_22, y, x, 1u32, 1u32) || wins
}

/// Compares one corner, which is the second pixel along an axis where `high` is 1.
#[cube]
fn compare_corner(winner: &mut Winner, value: f32, weight: f32, y: &Taps, x: &Taps, high_y: u32, high_x: u32) -> bool {
    let wins = value > winner.maximum;
    if wins {
        winner.maximum = value;
        winner.y = select(high_y == 1u32, y.high, y.low) as f32;
        winner.x = select(high_x == 1u32, x.high, x.low) as f32;
        winner.weight = weight;
        winner.high_y = high_y;
        winner.high_x = high_x;
    }
    wins
}
