//! Where samples fall that are not a grid of rows and columns of the map: [`PointGrid`](crate::geometry::point_grid) in
//! the type of coordinates.
//!
//! A sample has a place along each axis of its region, which [`place`] computes as the frameworks do. In a rotated
//! region [`turned`] maps the two places to a point of the map.

#[cfg(feature = "cube")]
use cubecl::prelude::*;

use super::between::{Reach, between};
use super::bins::rounded;
use super::samples::{ceil_quotient, product};
use super::{Real, quotient};
use crate::geometry::point_grid::MOST_POINTS;

/// Boxes are turned about their centres.
pub const ROTATED: u32 = 0;
/// Elements have offsets.
pub const OFFSETS: u32 = 1;
/// Elements have offsets, and boxes are rounded before they are scaled.
pub const OFFSETS_OF_ROUNDED_BOX: u32 = 2;
/// A sample of every element lies in each part of a box.
pub const SUB_CROPS: u32 = 3;

/// Coordinates are clamped to this, so that sums stay finite.
const FARTHEST: Real = 1e18;

rule! {
/// How samples are placed.
#[cfg_attr(feature = "cube", derive(CubeType, CubeLaunch))]
pub struct PointRule {
    /// One of the constants above.
    pub placement: u32,
    /// From box coordinates to pixels of the map.
    pub spatial_scale: Real,
    /// Subtracted from a scaled coordinate.
    pub input_pixel_offset: Real,
    /// The least length of a region in pixels.
    pub minimum_length: Real,
    /// The fixed number of samples along y and along x; 0 for the adaptive number.
    pub samples_y: u32,
    pub samples_x: u32,
    /// 1 if samples are placed by multiples of their distance, 0 if by shares of their element.
    pub by_steps: u32,
    /// Radians per unit of the angle; negative for clockwise.
    pub radians: Real,
    /// How many units a full turn has; 0 if they are radians.
    pub full_turn: Real,
    /// Samples move by `offset_scale * region size * offset`.
    pub offset_scale: Real,
    /// How many parts of a region have an offset of their own along y; 0 without offsets.
    pub parts_y: u32,
    /// The same along x.
    pub parts_x: u32,
    pub lower_bound: Real,
    /// The greatest position in bounds lies this much below the map's size.
    pub upper_margin: Real,
    /// 1 if an element is the mean of its samples in bounds.
    pub ignores_out_of_bounds: u32,
}
}

/// One axis of one region.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointAxis {
    /// Where the region starts, in pixels; if it is rotated, relative to its centre.
    pub start: Real,
    /// The length of the region in pixels.
    pub length: Real,
    /// The length of an element in pixels.
    pub element: Real,
    /// The distance of two samples of an element in pixels.
    pub step: Real,
    pub samples: u32,
    pub elements: u32,
    /// How many pixels the map has.
    pub size: u32,
    /// 1 if the length is that of the box, 0 if it is the least one.
    pub follows_box: u32,
}

/// How a region is turned.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    /// The centre of the region in pixels.
    pub center_y: Real,
    pub center_x: Real,
    pub cosine: Real,
    pub sine: Real,
}

#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The row, between pixels.
    pub y: Real,
    /// The column, between pixels.
    pub x: Real,
}

/// Ranges of places along both axes of a region.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Places {
    pub low_y: Real,
    pub high_y: Real,
    pub low_x: Real,
    pub high_x: Real,
}

/// The axis of a region of `elements` elements, on a map of `size` pixels. `low` and `high` are the ends of its box, or
/// the centre and the length if it is rotated.
#[cfg_attr(feature = "cube", cube)]
pub fn point_axis(rule: &PointRule, low: Real, high: Real, fixed: u32, elements: u32, size: u32) -> PointAxis {
    let mut start = scaled(rule, low);
    let mut length = scaled(rule, high);
    if rule.placement == OFFSETS_OF_ROUNDED_BOX {
        start = scaled(rule, rounded(low)) - rule.input_pixel_offset;
        length = (scaled(rule, rounded(high) + 1.0) - rule.input_pixel_offset) - start;
    } else if rule.placement != ROTATED {
        start -= rule.input_pixel_offset;
        length = (length - rule.input_pixel_offset) - start;
    }
    let mut follows_box = 1u32;
    if length < rule.minimum_length {
        length = rule.minimum_length;
        follows_box = 0u32;
    }
    if rule.placement == ROTATED {
        start = -length * 0.5;
    }
    let count = elements as Real;
    let mut element = quotient(length, count);
    let mut samples = fixed;
    if fixed == 0u32 {
        samples = ceil_quotient(length, count).clamp(0.0, MOST_POINTS as Real) as u32;
    }
    let mut step = 0.0;
    if samples > 0u32 {
        step = quotient(element, samples as Real);
        if rule.placement == SUB_CROPS {
            // The length of a part, which is the distance of two samples of an element.
            step = quotient(length, samples as Real);
            element = step;
        }
    }
    PointAxis {
        start,
        length,
        element,
        step,
        samples,
        elements,
        size,
        follows_box,
    }
}

#[cfg_attr(feature = "cube", cube)]
fn scaled(rule: &PointRule, coordinate: Real) -> Real {
    product(coordinate, rule.spatial_scale).clamp(-FARTHEST, FARTHEST)
}

/// By how many pixels an offset moves the samples of its element.
#[cfg_attr(feature = "cube", cube)]
pub fn shift(rule: &PointRule, axis: &PointAxis, offset: Real) -> Real {
    let mut result = product(product(rule.offset_scale, axis.length), offset);
    if rule.placement == OFFSETS_OF_ROUNDED_BOX {
        result = product(product(offset, rule.offset_scale), axis.length);
    }
    result.clamp(-FARTHEST, FARTHEST)
}

/// Where sample `sample` of element `element` lies along an axis of its region. If the region is not rotated, its axes
/// are those of the map.
#[cfg_attr(feature = "cube", cube)]
pub fn place(rule: &PointRule, axis: &PointAxis, element: u32, sample: u32, shift: Real) -> Real {
    let before = product(element as Real, axis.element);
    let number = sample as Real + 0.5;
    let mut inside = product(number, axis.step);
    if rule.by_steps == 0u32 {
        inside = quotient(product(number, axis.element), axis.samples as Real);
    }
    let mut result = ((axis.start + shift) + before) + inside;
    if rule.placement == SUB_CROPS {
        result = place_in_crop(axis, element, sample);
    } else if rule.placement == OFFSETS_OF_ROUNDED_BOX {
        result = ((before + axis.start) + shift) + product(sample as Real, axis.step);
    }
    result
}

/// The place of an element's sample in a crop of part `part` of the box.
#[cfg_attr(feature = "cube", cube)]
fn place_in_crop(axis: &PointAxis, element: u32, part: u32) -> Real {
    let last = (axis.size - 1u32) as Real;
    let low = axis.start + product(part as Real, axis.step);
    let high = axis.start + product((part + 1u32) as Real, axis.step);
    let mut result = product(product(0.5, low + high), last);
    if axis.elements > 1u32 {
        let step = quotient(product(high - low, last), (axis.elements - 1u32) as Real);
        result = product(element as Real, step) + product(low, last);
    }
    result
}

/// The point of the map at two places of a region.
#[cfg_attr(feature = "cube", cube)]
pub fn turned(rule: &PointRule, turn: &Turn, y: Real, x: Real) -> Point {
    let mut point = Point { y, x };
    if rule.placement == ROTATED {
        point.y = (product(y, turn.cosine) - product(x, turn.sine)) + turn.center_y;
        point.x = (product(y, turn.sine) + product(x, turn.cosine)) + turn.center_x;
    }
    point
}

/// How a region is turned whose centre is at `y` and `x`, in box coordinates.
#[cfg_attr(feature = "cube", cube)]
pub fn turn(rule: &PointRule, y: Real, x: Real, cosine: Real, sine: Real) -> Turn {
    Turn {
        center_y: scaled(rule, y) - rule.input_pixel_offset,
        center_x: scaled(rule, x) - rule.input_pixel_offset,
        cosine,
        sine,
    }
}

/// Whether a point reads a map of this height and width.
#[cfg_attr(feature = "cube", cube)]
pub fn reads(rule: &PointRule, point: &Point, height: u32, width: u32) -> bool {
    point.y >= rule.lower_bound
        && point.y <= height as Real - rule.upper_margin
        && point.x >= rule.lower_bound
        && point.x <= width as Real - rule.upper_margin
}

/// The places of a region whose points may read one of the pixels of these rows and columns, or lie at most a pixel
/// beyond them.
#[cfg_attr(feature = "cube", cube)]
pub fn places_of_pixels(rule: &PointRule, turn: &Turn, first_y: u32, last_y: u32, first_x: u32, last_x: u32) -> Places {
    let (low_y, high_y) = (first_y as Real - 1.0, last_y as Real + 1.0);
    let (low_x, high_x) = (first_x as Real - 1.0, last_x as Real + 1.0);
    let mut places = Places {
        low_y,
        high_y,
        low_x,
        high_x,
    };
    if rule.placement == ROTATED {
        // The rectangle, turned back: its middle, and half its extent along each axis.
        let y = (low_y + high_y) * 0.5 - turn.center_y;
        let x = (low_x + high_x) * 0.5 - turn.center_x;
        let half_y = (high_y - low_y) * 0.5;
        let half_x = (high_x - low_x) * 0.5;
        let (cosine, sine) = (turn.cosine.abs(), turn.sine.abs());
        // A few units in the last place of what is added up.
        let slack = 0.01 + (y.abs() + x.abs()) * 2e-6;
        let middle_y = y * turn.cosine + x * turn.sine;
        let middle_x = x * turn.cosine - y * turn.sine;
        let extent_y = half_y * cosine + half_x * sine + slack;
        let extent_x = half_x * cosine + half_y * sine + slack;
        places.low_y = middle_y - extent_y;
        places.high_y = middle_y + extent_y;
        places.low_x = middle_x - extent_x;
        places.high_x = middle_x + extent_x;
    }
    places
}

/// The samples of an element whose places may lie between `low` and `high`.
#[cfg_attr(feature = "cube", cube)]
pub fn samples_between(rule: &PointRule, axis: &PointAxis, element: u32, shift: Real, low: Real, high: Real) -> Reach {
    let mut first = 0u32;
    let mut end = 0u32;
    if axis.samples > 0u32 {
        let origin = place(rule, axis, element, 0u32, shift);
        let mut step = axis.step;
        if rule.placement == SUB_CROPS {
            step = product(axis.step, (axis.size - 1u32) as Real);
        }
        let reach = between(origin, step, low, high, axis.samples);
        first = reach.first;
        end = reach.end;
    }
    Reach { first, end }
}
