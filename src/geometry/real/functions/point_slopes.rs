//! The derivatives of the samples of a [`PointGrid`](crate::geometry::point_grid) by the columns of their region.

#[cfg(feature = "cube")]
use cubecl::prelude::*;

use super::Real;
use super::points::{OFFSETS_OF_ROUNDED_BOX, PointAxis, PointRule, ROTATED, SUB_CROPS, Turn};

/// The derivatives of a sample's place along an axis of its region.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlaceSlopes {
    /// By the low end of the box; by the centre if the region is rotated.
    pub low: Real,
    /// By the high end; by the length if the region is rotated.
    pub high: Real,
    /// By the element's offset.
    pub offset: Real,
}

/// The derivatives of a sample's point by the angle.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AngleSlopes {
    pub y: Real,
    pub x: Real,
}

/// The slopes of a sample's place.
#[cfg_attr(feature = "cube", cube)]
pub fn place_slopes(rule: &PointRule, axis: &PointAxis, element: u32, sample: u32, offset: Real) -> PlaceSlopes {
    let samples = axis.samples as Real;
    let mut scale = rule.spatial_scale;
    // The share of the region's length at which the sample lies.
    let mut share = (element as Real + (sample as Real + 0.5) / samples) / axis.elements as Real;
    if rule.placement == SUB_CROPS {
        scale *= (axis.size - 1u32) as Real;
        share = (sample as Real + 0.5) / samples;
        if axis.elements > 1u32 {
            share = (sample as Real + element as Real / (axis.elements - 1u32) as Real) / samples;
        }
    }
    let mut slopes = PlaceSlopes {
        low: 0.0,
        high: 0.0,
        offset: rule.offset_scale * axis.length,
    };
    if rule.placement == ROTATED {
        if axis.follows_box == 1u32 {
            slopes.high = scale * (share - 0.5);
        }
    } else if rule.placement != OFFSETS_OF_ROUNDED_BOX {
        share += rule.offset_scale * offset;
        if axis.follows_box == 0u32 {
            share = 0.0;
        }
        slopes.low = scale * (1.0 - share);
        slopes.high = scale * share;
    }
    slopes
}

/// The slopes of the point at two places of a turned region.
#[cfg_attr(feature = "cube", cube)]
pub fn angle_slopes(rule: &PointRule, turn: &Turn, y: Real, x: Real) -> AngleSlopes {
    AngleSlopes {
        y: -(y * turn.sine + x * turn.cosine) * rule.radians,
        x: (y * turn.cosine - x * turn.sine) * rule.radians,
    }
}

/// The derivative of the weight of the pixel after a position by the position; that of the pixel before is the
/// negative. It is 1, or 0 if the position is clamped to the map's edge. On a pixel, the next one is the pixel after.
#[cfg_attr(feature = "cube", cube)]
pub fn fraction_slope(position: Real, size: u32) -> Real {
    let mut slope = 0.0;
    if position >= 0.0 && position < (size - 1u32) as Real {
        slope = 1.0;
    }
    slope
}
