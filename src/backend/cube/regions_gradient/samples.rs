//! How samples change with the ends of their box.

use cubecl::prelude::*;

use super::ends::EndsGradient;
use super::slope::{Slope, slope_at, slope_of_corner};
use crate::backend::cube::unit::plan::ReductionPlan;
use crate::backend::cube::unit::winner::{ChannelElement, winner_of_samples};
use crate::geometry::options::Reduction;
use crate::geometry::real::single::points::Point;
use crate::geometry::real::single::samples::{Axis, SampleRule, axis, in_bounds, position};
use crate::geometry::real::single::slopes::{Slopes, movement, slopes};

/// One axis of a box, and how its samples move with the ends.
#[derive(CubeType)]
struct MovingAxis<'a> {
    rule: &'a SampleRule,
    axis: Axis,
    slopes: Slopes,
}

#[cube]
fn moving_axis<'a>(rule: &'a SampleRule, low: f32, high: f32, elements: u32) -> MovingAxis<'a> {
    let axis = axis(rule, low, high, elements);
    let slopes = slopes(rule, &axis, low, high, elements);
    MovingAxis::<'a> { rule, axis, slopes }
}

/// Adds what an average whose gradient is `gradient` gives the ends of its box.
#[cube]
pub fn add_average<F: Float>(
    features: &Tensor<F>,
    rule_y: &SampleRule,
    rule_x: &SampleRule,
    element: &ChannelElement<'_>,
    gradient: f32,
    of_ends: &mut EndsGradient,
    #[comptime] flat_on_pixels: bool,
) {
    let y = moving_axis(rule_y, element.region.y1, element.region.y2, element.rows);
    let x = moving_axis(rule_x, element.region.x1, element.region.x2, element.columns);
    let (height, width) = (features.shape(2) as u32, features.shape(3) as u32);
    let rows = in_bounds(rule_y, &y.axis, element.row, height);
    let columns = in_bounds(rule_x, &x.axis, element.column, width);
    let share = gradient / (y.axis.samples as f32 * x.axis.samples as f32);
    for sample_y in rows.first..rows.end {
        let at_y = position(rule_y, &y.axis, element.row, sample_y);
        for sample_x in columns.first..columns.end {
            let at_x = position(rule_x, &x.axis, element.column, sample_x);
            let point = Point { y: at_y, x: at_x };
            let slope = slope_at(features, rule_y, rule_x, element.plane, &point, flat_on_pixels);
            add_sample(&y, &x, element, sample_y, sample_x, &slope, share, of_ends);
        }
    }
}

/// Adds what a maximum whose gradient is `gradient` gives the ends of its box.
#[cube]
pub fn add_maximum<F: Float>(
    features: &Tensor<F>,
    rule_y: &SampleRule,
    rule_x: &SampleRule,
    element: &ChannelElement<'_>,
    gradient: f32,
    plan: &ReductionPlan,
    of_ends: &mut EndsGradient,
) {
    let flat_on_pixels = comptime!(plan.settings.flat_on_pixels);
    let winner = winner_of_samples(features, rule_y, rule_x, element, plan);
    if winner.found {
        let y = moving_axis(rule_y, element.region.y1, element.region.y2, element.rows);
        let x = moving_axis(rule_x, element.region.x1, element.region.x2, element.columns);
        let point = Point {
            y: position(rule_y, &y.axis, element.row, winner.sample_y),
            x: position(rule_x, &x.axis, element.column, winner.sample_x),
        };
        let slope = if comptime!(plan.settings.reduction == Reduction::MaxOfWeightedCorners) {
            slope_of_corner(features, rule_y, rule_x, element.plane, &point, &winner, flat_on_pixels)
        } else {
            slope_at(features, rule_y, rule_x, element.plane, &point, flat_on_pixels)
        };
        let (sample_y, sample_x) = (winner.sample_y, winner.sample_x);
        add_sample(&y, &x, element, sample_y, sample_x, &slope, gradient, of_ends);
    }
}

/// Adds what a sample gives the ends of its box. `sample_y` and `sample_x` are its indices within its element.
#[cube]
fn add_sample(
    y: &MovingAxis<'_>,
    x: &MovingAxis<'_>,
    element: &ChannelElement<'_>,
    sample_y: u32,
    sample_x: u32,
    slope: &Slope,
    gradient: f32,
    of_ends: &mut EndsGradient,
) {
    let y = movement(y.rule, &y.axis, &y.slopes, element.row, sample_y);
    let x = movement(x.rule, &x.axis, &x.slopes, element.column, sample_x);
    let along_y = gradient * slope.along_y;
    let along_x = gradient * slope.along_x;
    of_ends.y1 += along_y * y.low;
    of_ends.y2 += along_y * y.high;
    of_ends.x1 += along_x * x.low;
    of_ends.x2 += along_x * x.high;
}
