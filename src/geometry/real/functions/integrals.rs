//! The weights of pixels in the mean of the bilinear map over a bin, along one axis. Compiled for both types of
//! coordinates: `Real` is the parent's.
//!
//! The bilinear map is a sum of hats, one on each pixel: a hat is 1 at its pixel and falls to 0 at its neighbours. The
//! weight of a pixel is the mean of its hat over the bin. A hat has two sides, each of which is a straight line, so its
//! mean is the share of the bin that lies on a side, times the height in the middle of that part.

#[cfg(feature = "cube")]
use cubecl::prelude::*;

use super::between::Reach;
use super::samples::product;
use super::slopes::EndSlopes;
use super::{Real, quotient};

/// A shorter bin counts as empty. Devices flush numbers below 1.2e-38 to 0, so whether a bin is empty must not depend
/// on them.
const LEAST_LENGTH: Real = 1e-30;

rule! {
/// How a region is divided into bins along one axis.
#[cfg_attr(feature = "cube", derive(CubeType, CubeLaunch))]
pub struct IntegralRule {
    /// From box coordinates to pixels of the map.
    pub spatial_scale: Real,
}
}

/// One axis of one region.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntegralExtent {
    /// Where the region starts, in pixels.
    pub start: Real,
    /// The length of a bin in pixels, 0 if bins are empty.
    pub bin: Real,
}

#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Where it starts, in pixels.
    pub start: Real,
    /// Its length in pixels.
    pub length: Real,
    /// 1 over its length, 0 if it is empty.
    pub inverse: Real,
}

/// The part of a bin that lies on one side of a hat.
#[cfg_attr(feature = "cube", derive(CubeType))]
struct Part {
    /// Its share of the bin's length.
    share: Real,
    /// Its middle, counted from the pixel.
    middle: Real,
    /// How far along the bin its middle lies, 0 to 1.
    along: Real,
}

/// The axis of a region from `low` to `high` (box coordinates) that is divided into `elements` bins.
#[cfg_attr(feature = "cube", cube)]
pub fn extent(rule: &IntegralRule, low: Real, high: Real, elements: u32) -> IntegralExtent {
    let start = product(low, rule.spatial_scale);
    let length = (product(high, rule.spatial_scale) - start).clamp(0.0, Real::MAX);
    let mut bin = quotient(length, elements as Real);
    if bin < LEAST_LENGTH {
        bin = 0.0;
    }
    IntegralExtent { start, bin }
}

/// Bin `element` of a region.
#[cfg_attr(feature = "cube", cube)]
pub fn bin(extent: &IntegralExtent, element: u32) -> Bin {
    let mut inverse = 0.0;
    if extent.bin > 0.0 {
        inverse = 1.0 / extent.bin;
    }
    Bin {
        start: (extent.start + product(element as Real, extent.bin)).clamp(-Real::MAX, Real::MAX),
        length: extent.bin,
        inverse,
    }
}

/// The pixels of a map of `size` pixels whose hats a bin reaches.
#[cfg_attr(feature = "cube", cube)]
pub fn pixels(bin: &Bin, size: u32) -> Reach {
    let most = size as Real;
    let mut first = bin.start.floor().clamp(0.0, most) as u32;
    // A bin from a pixel on that is too short to move its end moves the weight of the next pixel all the same.
    let after = (bin.start + bin.length).clamp(-Real::MAX, Real::MAX).ceil() + 1.0;
    let mut end = after.max(bin.start.floor() + 2.0).clamp(0.0, most) as u32;
    // A size above 2^24 may be rounded up.
    first = first.min(size);
    end = end.min(size);
    if bin.length <= 0.0 {
        end = first;
    }
    Reach { first, end }
}

/// The part of a bin that lies between `from` and `to`. It starts at `start`; all three are counted from a pixel.
#[cfg_attr(feature = "cube", cube)]
fn part(bin: &Bin, start: Real, from: Real, to: Real) -> Part {
    let end = (start + bin.length).clamp(-Real::MAX, Real::MAX);
    // All of a bin that lies inside: computed from its ends, the length of a short one would be 0.
    let mut share = 1.0;
    let mut along = 0.5;
    let mut middle = start + bin.length * 0.5;
    if start < from || end > to {
        let first = start.max(from);
        let last = end.min(to);
        share = ((last - first) * bin.inverse).clamp(0.0, 1.0);
        along = (((first - start) * 0.5 + (last - start) * 0.5) * bin.inverse).clamp(0.0, 1.0);
        middle = first * 0.5 + last * 0.5;
    }
    Part { share, middle, along }
}

/// The weight of a pixel in a bin that is not empty.
#[cfg_attr(feature = "cube", cube)]
pub fn weight(bin: &Bin, pixel: u32) -> Real {
    let start = bin.start - pixel as Real;
    let rising = part(bin, start, -1.0, 0.0);
    let falling = part(bin, start, 0.0, 1.0);
    rising.share * (1.0 + rising.middle) + falling.share * (1.0 - falling.middle)
}

/// How the weight of a pixel in bin `element` of `elements` moves with the box. The bin is not empty.
///
/// The mean of a hat `h` over a bin from a to b, of length L, changes with b by the integral of `(t - a) h'(t)` over
/// L², and with a by that of `(b - t) h'(t)`. On a side, `h'` is 1 or -1.
#[cfg_attr(feature = "cube", cube)]
pub fn weight_slope(rule: &IntegralRule, bin: &Bin, element: u32, elements: u32, pixel: u32) -> EndSlopes {
    let start = bin.start - pixel as Real;
    let rising = part(bin, start, -1.0, 0.0);
    let falling = part(bin, start, 0.0, 1.0);
    let by_start = rising.share * (1.0 - rising.along) - falling.share * (1.0 - falling.along);
    let by_end = rising.share * rising.along - falling.share * falling.along;
    let count = elements as Real;
    let before = element as Real;
    let after = count - before;
    EndSlopes {
        low: (by_start * after + by_end * (after - 1.0)) / count * rule.spatial_scale,
        high: (by_start * before + by_end * (before + 1.0)) / count * rule.spatial_scale,
    }
}
