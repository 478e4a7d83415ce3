//! Which whole pixels of a region belong to an output element along one axis.

#[cfg(feature = "cube")]
use cubecl::prelude::*;

use super::samples::product;
use super::{Real, quotient};

/// Bin borders are whole numbers divided exactly. DirectML and OpenVINO.
pub const WHOLE: u32 = 0;
/// The length of a bin is rounded to a float, and borders are its multiples. torchvision and ONNX Runtime. Width
/// 57 into 7 ends at 58, not at 57.
pub const ROUNDED: u32 = 1;
/// The same, for a region whose coordinates are rounded before they are scaled. OpenVINO and Paddle.
pub const ROUNDED_BEFORE_SCALING: u32 = 2;
/// The same, for a region whose coordinates are not rounded. mmcv.
pub const NOT_ROUNDED: u32 = 3;

/// Rounded coordinates are held within this, so that sums of them are integers of 32 bits.
const FARTHEST: Real = 536_870_912.0;

rule! {
/// How a region is divided into bins along one axis.
#[cfg_attr(feature = "cube", derive(CubeType, CubeLaunch), expand(derive(Clone)))]
pub struct BinRule {
    /// From box coordinates to pixels of the map.
    pub spatial_scale: Real,
    /// Added to the high end of a box before anything else.
    pub end_offset: Real,
    /// Added to the rounded high end: 1 if the pixel that a box ends in belongs to the region, else 0.
    pub end_pixels: i32,
    /// The least length of a region in pixels.
    pub minimum_length: Real,
    /// How borders are divided: one of the constants above.
    pub division: u32,
    /// How many pixels at the end of the map belong to no bin.
    pub unread_pixels: u32,
}
}

/// One axis of one region. It begins at `start + offset`, and one of the two is 0.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BinExtent {
    /// The first pixel, if coordinates are rounded after they are scaled. It may lie outside of the map.
    pub start: i32,
    /// Where the region begins, if scaled coordinates are not rounded.
    pub offset: Real,
    /// The length of a bin in pixels, rounded to a float.
    pub bin: Real,
    /// The length as a whole number, for [`WHOLE`].
    pub pixels: i32,
}

/// The pixels of one bin, `start` up to `end`, within the map. Empty where `end <= start`.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    pub start: u32,
    pub end: u32,
}

/// The pixels of a region from `low` to `high` (box coordinates) that has `elements` bins.
#[cfg_attr(feature = "cube", cube)]
pub fn extent(rule: &BinRule, low: Real, high: Real, elements: u32) -> BinExtent {
    let high = high + rule.end_offset;
    let mut start = pixel(rule, low);
    let pixels = pixel(rule, high) - start + rule.end_pixels;
    let mut offset = 0.0;
    let mut length = pixels as Real;
    if rule.division == ROUNDED_BEFORE_SCALING {
        start = 0i32;
        offset = scaled(rule, rounded(low));
        length = scaled(rule, rounded(high) + rule.end_pixels as Real) - offset;
    }
    if rule.division == NOT_ROUNDED {
        start = 0i32;
        offset = scaled(rule, low);
        length = scaled(rule, high + rule.end_pixels as Real) - offset;
    }
    BinExtent {
        start,
        offset,
        bin: quotient(length.max(rule.minimum_length), elements as Real),
        pixels: pixels.max(rule.minimum_length as i32),
    }
}

/// A box coordinate in whole pixels.
#[cfg_attr(feature = "cube", cube)]
fn pixel(rule: &BinRule, coordinate: Real) -> i32 {
    rounded(scaled(rule, coordinate)) as i32
}

/// A box coordinate in pixels.
#[cfg_attr(feature = "cube", cube)]
fn scaled(rule: &BinRule, coordinate: Real) -> Real {
    product(coordinate, rule.spatial_scale).clamp(-FARTHEST, FARTHEST)
}

/// The nearest whole number, away from zero halfway between two, as C's `round` has it.
#[cfg_attr(feature = "cube", cube)]
pub fn rounded(number: Real) -> Real {
    let magnitude = number.abs();
    let mut result = magnitude.floor();
    if magnitude - result >= 0.5 {
        result += 1.0;
    }
    if number < 0.0 {
        result = -result;
    }
    result
}

/// Bin `element` of `elements` on a map of `size` pixels.
#[cfg_attr(feature = "cube", cube)]
pub fn bin(rule: &BinRule, extent: &BinExtent, element: u32, elements: u32, size: u32) -> Bin {
    let mut start = 0i32;
    let mut end = 0i32;
    if rule.division != WHOLE {
        start = (product(element as Real, extent.bin) + extent.offset).floor() as i32;
        end = (product((element + 1u32) as Real, extent.bin) + extent.offset).ceil() as i32;
    } else if extent.pixels > 0i32 {
        // pixels = whole * elements + part keeps the products within 32 bits.
        let whole = extent.pixels / elements as i32;
        let part = (extent.pixels % elements as i32) as u32;
        let next = element + 1u32;
        start = whole * element as i32 + (element * part / elements) as i32;
        end = whole * next as i32 + (next * part).div_ceil(elements) as i32;
    }
    if rule.division == NOT_ROUNDED && extent.bin <= 0.0 {
        // Its bins have no length, but would reach from the pixel below an end between two pixels to the one above.
        end = start;
    }
    let last = (size - rule.unread_pixels) as i32;
    Bin {
        start: (start + extent.start).clamp(0i32, last) as u32,
        end: (end + extent.start).clamp(0i32, last) as u32,
    }
}
