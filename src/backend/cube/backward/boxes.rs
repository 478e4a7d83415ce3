//! The gradient of boxes: a cube owns a region, and its units sum over elements and channels.

use cubecl::prelude::*;

use super::Compiled;
use super::integrals::add_integral;
use super::slope::{Slope, slope_at, slope_of_corner};
use super::tile::UNITS;
use super::winner::{Place, winner_of_samples};
use crate::backend::cube::unit::{BoxRow, read_box};
use crate::geometry::operator::ChannelMap;
use crate::geometry::options::Reduction;
use crate::geometry::real::single::area::{AreaRule, in_range};
use crate::geometry::real::single::rules::{Rules, RulesExpand};
use crate::geometry::real::single::samples::{Axis, SampleRule, axis, in_bounds, position};
use crate::geometry::real::single::slopes::{Slopes, movement, slopes};

/// One axis of a region, and how it moves.
#[derive(CubeType)]
struct MovingAxis {
    axis: Axis,
    slopes: Slopes,
}

/// The gradients of a region's ends.
#[derive(CubeType)]
pub struct OfEnds {
    pub y1: f32,
    pub y2: f32,
    pub x1: f32,
    pub x2: f32,
}

#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)]
pub fn pull_boxes<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    features: &Tensor<F>,
    boxes: &Tensor<R>,
    batch_indices: &Tensor<I>,
    output: &mut Tensor<R>,
    rules: &Rules,
    areas: &AreaRule,
    start: f32,
    outside: f32,
    #[comptime] compiled: Compiled,
    #[define(F)] _dtype: cubecl::ir::ElemType,
    #[define(R)] _box_dtype: cubecl::ir::ElemType,
    #[define(I)] _index_dtype: cubecl::ir::ElemType,
) {
    let row = CUBE_POS;
    if row >= gradient.shape(0) {
        terminate!();
    }
    let unit = UNIT_POS as usize;
    let region = read_box(boxes, batch_indices, row, features.shape(0), compiled.box_format);
    let mut pooled = region.valid;
    if comptime!(compiled.of_level) {
        pooled = pooled && in_range(areas, region.y1, region.x1, region.y2, region.x2);
    }
    let mut of_ends = OfEnds {
        y1: 0.0,
        y2: 0.0,
        x1: 0.0,
        x2: 0.0,
    };
    if pooled {
        let of_a_channel = gradient.shape(2) * gradient.shape(3);
        let mut item = unit;
        while item < gradient.shape(1) * of_a_channel {
            add_item(
                gradient,
                features,
                rules,
                &region,
                row,
                item,
                start,
                outside,
                &mut of_ends,
                compiled,
            );
            item += UNITS;
        }
    }
    let columns = comptime!(compiled.box_format.columns());
    let mut shared = Shared::<[f32]>::new_slice(UNITS);
    write_end(output, row, comptime!(columns[0][0]).runtime(), of_ends.y1, &mut shared);
    write_end(output, row, comptime!(columns[0][1]).runtime(), of_ends.y2, &mut shared);
    write_end(output, row, comptime!(columns[1][0]).runtime(), of_ends.x1, &mut shared);
    write_end(output, row, comptime!(columns[1][1]).runtime(), of_ends.x2, &mut shared);
}

/// Adds the sums of all units, in one order, and writes a column of the boxes' gradient.
#[cube]
pub fn write_end<F: Float>(output: &mut Tensor<F>, row: usize, column: usize, sum: f32, shared: &mut Shared<[f32]>) {
    let unit = UNIT_POS as usize;
    // What was shared before is read by now.
    sync_cube();
    shared[unit] = sum;
    sync_cube();
    let mut half = comptime!(UNITS / 2).runtime();
    while half > 0 {
        if unit < half {
            let other = shared[unit + half];
            shared[unit] += other;
        }
        sync_cube();
        half /= 2;
    }
    if unit == 0 {
        let place = row * output.stride(0) + column * output.stride(1);
        output[place] = F::cast_from(shared[0]);
    }
}

/// Adds what one element of one channel gives.
#[cube]
#[allow(clippy::too_many_arguments)]
fn add_item<F: Float>(
    gradient: &Tensor<F>,
    features: &Tensor<F>,
    rules: &Rules,
    region: &BoxRow,
    row: usize,
    item: usize,
    start: f32,
    outside: f32,
    of_ends: &mut OfEnds,
    #[comptime] compiled: Compiled,
) {
    let (rows, columns) = (gradient.shape(2), gradient.shape(3));
    let (rest, q) = (item / columns, item % columns);
    let (channel, p) = (rest / rows, rest % rows);
    let of_element =
        row * gradient.stride(0) + channel * gradient.stride(1) + p * gradient.stride(2) + q * gradient.stride(3);
    let of_element = f32::cast_from(gradient[of_element]);
    let mut input = channel;
    if comptime!(compiled.channel_map == ChannelMap::PositionSensitive) {
        input = (channel * rows + p) * columns + q;
    }
    let place = Place {
        row: p as u32,
        column: q as u32,
        rows: rows as u32,
        columns: columns as u32,
        plane: region.image * features.stride(0) + input * features.stride(1),
    };
    match rules {
        Rules::Samples(y, x) => {
            if comptime!(compiled.reduction == Reduction::Average) {
                add_average(
                    features,
                    y,
                    x,
                    region,
                    &place,
                    of_element,
                    of_ends,
                    compiled.flat_on_pixels,
                );
            } else {
                add_maximum(
                    features, y, x, region, &place, of_element, start, outside, of_ends, compiled,
                );
            }
        }
        Rules::Bins(_, _) => {}
        Rules::Integrals(y, x) => {
            add_integral(features, y, x, region, &place, of_element, of_ends);
        }
    }
}

#[cube]
fn moving_axis(rule: &SampleRule, low: f32, high: f32, elements: u32) -> MovingAxis {
    let axis = axis(rule, low, high, elements);
    let slopes = slopes(rule, &axis, low, high, elements);
    MovingAxis { axis, slopes }
}

#[cube]
#[allow(clippy::too_many_arguments)]
fn add_average<F: Float>(
    features: &Tensor<F>,
    rule_y: &SampleRule,
    rule_x: &SampleRule,
    region: &BoxRow,
    place: &Place,
    gradient: f32,
    of_ends: &mut OfEnds,
    #[comptime] flat_on_pixels: bool,
) {
    let moving_y = moving_axis(rule_y, region.y1, region.y2, place.rows);
    let moving_x = moving_axis(rule_x, region.x1, region.x2, place.columns);
    let (height, width) = (features.shape(2) as u32, features.shape(3) as u32);
    let rows = in_bounds(rule_y, &moving_y.axis, place.row, height);
    let columns = in_bounds(rule_x, &moving_x.axis, place.column, width);
    let share = gradient / (moving_y.axis.samples as f32 * moving_x.axis.samples as f32);
    for sample_y in rows.first..rows.end {
        let at_y = position(rule_y, &moving_y.axis, place.row, sample_y);
        for sample_x in columns.first..columns.end {
            let at_x = position(rule_x, &moving_x.axis, place.column, sample_x);
            let slope = slope_at(features, rule_y, rule_x, place.plane, at_y, at_x, flat_on_pixels);
            add_sample(
                rule_y, rule_x, &moving_y, &moving_x, place, sample_y, sample_x, &slope, share, of_ends,
            );
        }
    }
}

#[cube]
#[allow(clippy::too_many_arguments)]
fn add_maximum<F: Float>(
    features: &Tensor<F>,
    rule_y: &SampleRule,
    rule_x: &SampleRule,
    region: &BoxRow,
    place: &Place,
    gradient: f32,
    start: f32,
    outside: f32,
    of_ends: &mut OfEnds,
    #[comptime] compiled: Compiled,
) {
    let winner = winner_of_samples(
        features,
        rule_y,
        rule_x,
        region,
        place,
        start,
        outside,
        compiled.reduction,
    );
    if winner.found {
        let moving_y = moving_axis(rule_y, region.y1, region.y2, place.rows);
        let moving_x = moving_axis(rule_x, region.x1, region.x2, place.columns);
        let at_y = position(rule_y, &moving_y.axis, place.row, winner.sample_y);
        let at_x = position(rule_x, &moving_x.axis, place.column, winner.sample_x);
        let flat_on_pixels = compiled.flat_on_pixels;
        if comptime!(compiled.reduction == Reduction::MaxOfWeightedCorners) {
            let slope = slope_of_corner(
                features,
                rule_y,
                rule_x,
                place.plane,
                at_y,
                at_x,
                winner.high_y,
                winner.high_x,
                flat_on_pixels,
            );
            add_sample(
                rule_y,
                rule_x,
                &moving_y,
                &moving_x,
                place,
                winner.sample_y,
                winner.sample_x,
                &slope,
                gradient,
                of_ends,
            );
        } else {
            let slope = slope_at(features, rule_y, rule_x, place.plane, at_y, at_x, flat_on_pixels);
            add_sample(
                rule_y,
                rule_x,
                &moving_y,
                &moving_x,
                place,
                winner.sample_y,
                winner.sample_x,
                &slope,
                gradient,
                of_ends,
            );
        }
    }
}

/// Adds what a sample gives the ends of its region.
#[cube]
#[allow(clippy::too_many_arguments)]
fn add_sample(
    rule_y: &SampleRule,
    rule_x: &SampleRule,
    moving_y: &MovingAxis,
    moving_x: &MovingAxis,
    place: &Place,
    sample_y: u32,
    sample_x: u32,
    slope: &Slope,
    gradient: f32,
    of_ends: &mut OfEnds,
) {
    let y = movement(rule_y, &moving_y.axis, &moving_y.slopes, place.row, sample_y);
    let x = movement(rule_x, &moving_x.axis, &moving_x.slopes, place.column, sample_x);
    let along_y = gradient * slope.along_y;
    let along_x = gradient * slope.along_x;
    of_ends.y1 += along_y * y.low;
    of_ends.y2 += along_y * y.high;
    of_ends.x1 += along_x * x.low;
    of_ends.x2 += along_x * x.high;
}
