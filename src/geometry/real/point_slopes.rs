//! How samples of a [`PointGrid`](crate::geometry::point_grid) move with the numbers of their region.

#[cfg(feature = "cube")]
use cubecl::prelude::*;

use super::Real;
use super::points::{OFFSETS_OF_ROUNDED_BOX, PointAxis, PointRule, ROTATED, SUB_CROPS, Turn};

/// By how much a sample's place along an axis of its region grows as a number of the region grows by 1.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlaceSlopes {
    /// With the low end of the box; with the centre where the region is turned.
    pub low: Real,
    /// With the high end; with the length where the region is turned.
    pub high: Real,
    /// With the element's offset.
    pub offset: Real,
}

/// By how much a sample's point grows as the angle grows by 1.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AngleSlopes {
    /// The row.
    pub y: Real,
    /// The column.
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

/// What the weight of the pixel after a position gains, and that of the pixel before it loses, as the position grows by
/// 1: 1, or 0 where the position is held at the map's edge. On a pixel it is that towards the next one.
#[cfg_attr(feature = "cube", cube)]
pub fn fraction_slope(position: Real, size: u32) -> Real {
    let mut slope = 0.0;
    if position >= 0.0 && position < (size - 1u32) as Real {
        slope = 1.0;
    }
    slope
}
