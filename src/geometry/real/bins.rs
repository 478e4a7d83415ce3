//! Which whole pixels of a region belong to an output element along one axis.

#[cfg(feature = "cube")]
use cubecl::prelude::*;

use super::samples::product;
use super::{Real, quotient};

/// Bin borders are whole numbers divided exactly. DirectML.
pub const WHOLE: u32 = 0;
/// The length of a bin is rounded to a float, and borders are its multiples. torchvision and ONNX Runtime. Width
/// 57 into 7 ends at 58, not at 57.
pub const ROUNDED: u32 = 1;

/// Rounded coordinates are held within this, so that sums of them are integers of 32 bits.
const FARTHEST: Real = 536_870_912.0;

/// How a region is divided into bins along one axis.
#[cfg_attr(feature = "cube", derive(CubeType, CubeLaunch))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BinRule {
    /// From box coordinates to pixels of the map.
    pub spatial_scale: Real,
    /// 1 where the pixel that a box ends in belongs to the region, 0 where the region ends before it.
    pub end_pixels: i32,
    /// The least length of a region in pixels.
    pub minimum_length: i32,
    /// How borders are divided: one of the constants above.
    pub division: u32,
    /// How many pixels at the end of the map belong to no bin.
    pub unread_pixels: u32,
}

/// One axis of one region, in whole pixels.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The first pixel; it may lie outside of the map.
    pub start: i32,
    /// The number of pixels.
    pub length: i32,
}

/// The pixels of one bin, `start` up to `end`, within the map. Empty where `end <= start`.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    /// The first pixel.
    pub start: u32,
    /// The first pixel after it.
    pub end: u32,
}

/// The pixels of a region from `low` to `high` (box coordinates).
#[cfg_attr(feature = "cube", cube)]
pub fn extent(rule: &BinRule, low: Real, high: Real) -> Extent {
    let start = pixel(rule, low);
    let length = (pixel(rule, high) - start + rule.end_pixels).max(rule.minimum_length);
    Extent { start, length }
}

/// A box coordinate in whole pixels, a half rounded away from zero as C's `round` does.
#[cfg_attr(feature = "cube", cube)]
fn pixel(rule: &BinRule, coordinate: Real) -> i32 {
    let scaled = product(coordinate, rule.spatial_scale).clamp(-FARTHEST, FARTHEST);
    let magnitude = scaled.abs();
    let mut rounded = magnitude.floor();
    if magnitude - rounded >= 0.5 {
        rounded += 1.0;
    }
    let mut result = rounded as i32;
    if scaled < 0.0 {
        result = -result;
    }
    result
}

/// Bin `element` of `elements` on a map of `size` pixels.
#[cfg_attr(feature = "cube", cube)]
pub fn bin(rule: &BinRule, extent: &Extent, element: u32, elements: u32, size: u32) -> Bin {
    let mut start = 0i32;
    let mut end = 0i32;
    if rule.division == ROUNDED {
        let length = quotient(extent.length as Real, elements as Real);
        start = product(element as Real, length).floor() as i32;
        end = product((element + 1u32) as Real, length).ceil() as i32;
    } else if extent.length > 0i32 {
        // length = whole * elements + part keeps the products within 32 bits.
        let whole = extent.length / elements as i32;
        let part = (extent.length % elements as i32) as u32;
        let next = element + 1u32;
        start = whole * element as i32 + (element * part / elements) as i32;
        end = whole * next as i32 + (next * part).div_ceil(elements) as i32;
    }
    let last = (size - rule.unread_pixels) as i32;
    Bin {
        start: (start + extent.start).clamp(0i32, last) as u32,
        end: (end + extent.start).clamp(0i32, last) as u32,
    }
}
