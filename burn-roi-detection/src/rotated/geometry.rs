//! The intersection of two rotated boxes.
//!
//! Two boxes are compared in the frame of the first: its centre is the origin, its sides lie along the axes, and the
//! unit is close to the longest side of both. Coordinates far from the origin lose no precision there, and the second
//! box is clipped by four lines that are parallel to the axes. Nothing is decided by a tolerance.

use super::OverlapMode;
use burn_roi::{AngleConvention, AngleUnit, RotationDirection};

/// The area below which detectron2 and mmcv take a box as empty.
const SMALLEST_AREA: f64 = 1e-14;

/// A box, and what each comparison with another needs.
#[derive(Debug, Clone, Copy)]
pub struct RotatedBox {
    center: [f64; 2],
    /// Width and height.
    size: [f64; 2],
    /// Clockwise in degrees, within a full turn of 0.
    angle: f64,
    /// The direction of the width.
    axis: [f64; 2],
    /// The radius of the circumscribed circle.
    radius: f64,
    is_empty: bool,
}

impl RotatedBox {
    pub fn new([x, y, width, height, angle]: [f64; 5], convention: AngleConvention) -> Self {
        // Remainders are exact. Degrees have quarter turns exactly, which radians do not.
        let angle = match convention.unit {
            AngleUnit::Degrees => angle % 360.0,
            AngleUnit::Radians => (angle % std::f64::consts::TAU).to_degrees(),
        };
        let angle = match convention.direction {
            RotationDirection::Clockwise => angle,
            RotationDirection::CounterClockwise => -angle,
        };
        Self {
            center: [x, y],
            size: [width, height],
            angle,
            axis: direction(angle),
            radius: (0.5 * width).hypot(0.5 * height),
            is_empty: width <= 0.0 || height <= 0.0 || width * height < SMALLEST_AREA,
        }
    }

    /// The overlap of this box with another, from 0 to 1. It is 0 where a box is empty.
    pub fn overlap(&self, other: &Self, mode: OverlapMode) -> f64 {
        if self.is_empty || other.is_empty {
            return 0.0;
        }
        let offset = [other.center[0] - self.center[0], other.center[1] - self.center[1]];
        let reach = self.radius + other.radius;
        let [x, y] = offset.map(|offset| offset / reach);
        // A quotient is NaN where both its numbers are beyond f64.
        let circles_meet = x * x + y * y < 1.0;
        if !circles_meet {
            return 0.0;
        }

        let [width, height] = self.size;
        let longest = width.max(height).max(other.size[0]).max(other.size[1]);
        let scale = 1.0 / power_of_two_below(longest);
        let half = self.size.map(|side| 0.5 * scale * side);
        let corners = corners(
            into_frame(offset.map(|offset| scale * offset), self.axis),
            other.size.map(|side| 0.5 * scale * side),
            direction(other.angle - self.angle),
        );
        let area = 4.0 * half[0] * half[1];
        let other_area = (scale * other.size[0]) * (scale * other.size[1]);
        let intersection = intersection(corners, half).min(area).min(other_area);
        let whole = match mode {
            OverlapMode::Iou => area + other_area - intersection,
            OverlapMode::Iof => area,
        };
        // In f64, the area of a box that is 1e300 times as long as wide can be 0.
        if whole > 0.0 { intersection / whole } else { 0.0 }
    }
}

/// The unit vector at an angle in degrees. At quarter turns it is exact.
fn direction(angle: f64) -> [f64; 2] {
    let quarters = (angle / 90.0).round();
    let (sin, cos) = (angle - 90.0 * quarters).to_radians().sin_cos();
    match (quarters as i64).rem_euclid(4) {
        0 => [cos, sin],
        1 => [-sin, cos],
        2 => [-cos, -sin],
        _ => [sin, -cos],
    }
}

/// The largest power of two that is not above a normal number. A product or quotient by it is exact.
fn power_of_two_below(number: f64) -> f64 {
    f64::from_bits(number.to_bits() & f64::INFINITY.to_bits())
}

/// A vector in the frame whose x axis is `axis`.
fn into_frame([x, y]: [f64; 2], [cos, sin]: [f64; 2]) -> [f64; 2] {
    [x * cos + y * sin, y * cos - x * sin]
}

/// The corners of a box, in the order of its outline.
fn corners([x, y]: [f64; 2], [half_width, half_height]: [f64; 2], [cos, sin]: [f64; 2]) -> [[f64; 2]; 4] {
    let along = [half_width * cos, half_width * sin];
    let across = [-half_height * sin, half_height * cos];
    [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]
        .map(|[u, v]| [x + (u * along[0] + v * across[0]), y + (u * along[1] + v * across[1])])
}

/// The area of a convex polygon within `-half[axis] <= position[axis] <= half[axis]`, by Sutherland and Hodgman's
/// clipping.
fn intersection(corners: [[f64; 2]; 4], half: [f64; 2]) -> f64 {
    let mut polygon = Polygon::EMPTY;
    corners.into_iter().for_each(|corner| polygon.push(corner));
    for (axis, half) in half.into_iter().enumerate() {
        polygon = polygon.clipped(axis, half).clipped(axis, -half);
    }
    polygon.area()
}

/// The most corners that clipping can give. A line cuts a convex polygon twice, but with rounding a tiny one can have
/// its corners on both sides in turn. Of n corners it then leaves at most 3n / 2: 4, 6, 9, 13, 19.
const MAXIMUM_CORNERS: usize = 19;

struct Polygon {
    corners: [[f64; 2]; MAXIMUM_CORNERS],
    len: usize,
}

impl Polygon {
    const EMPTY: Self = Self {
        corners: [[0.0; 2]; MAXIMUM_CORNERS],
        len: 0,
    };

    fn push(&mut self, corner: [f64; 2]) {
        self.corners[self.len] = corner;
        self.len += 1;
    }

    fn corners(&self) -> &[[f64; 2]] {
        &self.corners[..self.len]
    }

    /// The part on the origin's side of the line where the coordinate `axis` is `side`.
    fn clipped(&self, axis: usize, side: f64) -> Self {
        let inside = |corner: &[f64; 2]| (side - corner[axis]) * side.signum();
        let mut clipped = Self::EMPTY;
        let Some(mut start) = self.corners().last() else {
            return clipped;
        };
        for end in self.corners() {
            let (from, to) = (inside(start), inside(end));
            if (from >= 0.0) != (to >= 0.0) {
                let other = 1 - axis;
                let mut crossing = [side; 2];
                crossing[other] = start[other] + from / (from - to) * (end[other] - start[other]);
                clipped.push(crossing);
            }
            if to >= 0.0 {
                clipped.push(*end);
            }
            start = end;
        }
        clipped
    }

    /// The area, by triangles around the first corner: a small polygon far from the origin loses no precision.
    fn area(&self) -> f64 {
        let Some((first, others)) = self.corners().split_first() else {
            return 0.0;
        };
        let from_first = |corner: &[f64; 2]| [corner[0] - first[0], corner[1] - first[1]];
        let doubled: f64 = others
            .windows(2)
            .map(|pair| {
                let ([x1, y1], [x2, y2]) = (from_first(&pair[0]), from_first(&pair[1]));
                x1 * y2 - x2 * y1
            })
            .sum();
        (0.5 * doubled).max(0.0)
    }
}
