//! How the samples of one region move with its ends along one axis: the derivatives of [`samples`](super::samples).
//!
//! Sample s of a region lies at a share t of the way from its low end to its high end, so its position moves by
//! `scale * (1 - t)` with the low end and by `scale * t` with the high one.

#[cfg(feature = "cube")]
use cubecl::prelude::*;

use super::Real;
use super::samples::{Axis, BILINEAR, SampleRule, extent};

/// How the samples of one region move along one axis.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slopes {
    /// The sum of both derivatives: pixels per unit of box coordinates.
    pub scale: Real,
    /// The share of a sample whose index equals the output pixel offset.
    pub first_share: Real,
    /// What each sample adds to the share.
    pub share_step: Real,
}

/// The derivatives of a position or a weight by the ends of the box.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EndSlopes {
    pub low: Real,
    pub high: Real,
}

/// The slopes of a region from `low` to `high` (box coordinates) whose axis, of `elements` outputs, is `axis`.
#[cfg_attr(feature = "cube", cube)]
pub fn slopes(rule: &SampleRule, axis: &Axis, low: Real, high: Real, elements: u32) -> Slopes {
    let spans = elements as Real * axis.samples as Real - rule.align_corners as Real;
    let mut first_share = 0.0;
    let mut share_step = 0.0;
    if spans > 0.0 {
        // A region that is held at its least length moves with its low end alone.
        if extent(rule, low, high).length >= rule.minimum_length {
            share_step = 1.0 / spans;
        }
    } else if rule.align_corners == 1u32 {
        // One sample that can't reach both corners takes the middle.
        first_share = 0.5;
    }
    Slopes {
        scale: rule.spatial_scale,
        first_share,
        share_step,
    }
}

/// The derivatives of the position of sample `sample` of output element `element`.
#[cfg_attr(feature = "cube", cube)]
pub fn movement(rule: &SampleRule, axis: &Axis, slopes: &Slopes, element: u32, sample: u32) -> EndSlopes {
    let number = element as Real * axis.samples as Real + sample as Real;
    let share = slopes.first_share + (number - rule.output_pixel_offset) * slopes.share_step;
    EndSlopes {
        low: slopes.scale * (1.0 - share),
        high: slopes.scale * share,
    }
}

/// The derivative of the weight of a sample's `high` pixel by its position, on a map of `size` pixels; that of its
/// `low` pixel is the negative. It is 1, or 0 for a nearest pixel and for a sample that is clamped to the map's edge. A
/// sample on a pixel moves towards the next one, unless `flat_on_pixels`; the last pixel has no next one.
#[cfg_attr(feature = "cube", cube)]
pub fn weight_slope(rule: &SampleRule, position: Real, size: u32, flat_on_pixels: bool) -> Real {
    let last = (size - 1u32) as Real;
    let mut slope = 0.0;
    if rule.interpolation == BILINEAR && position >= 0.0 && position < last {
        slope = 1.0;
    }
    if flat_on_pixels && position == position.floor() {
        slope = 0.0;
    }
    slope
}
