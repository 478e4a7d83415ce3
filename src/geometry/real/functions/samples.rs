//! Where the samples of one region fall along one axis. Every `RoiAlign` applies the same rule to y and to x
//! separately, so these functions know one axis.
//!
//! They run on the host and, compiled by CubeCL, inside kernels. They compute in the order of the framework, since the
//! last bit of a position can change the number of samples or put a sample out of bounds.

#[cfg(feature = "cube")]
use cubecl::prelude::*;

use super::between::Reach;
use super::{Real, quotient};
use crate::geometry::options::MAXIMUM_ADAPTIVE_SAMPLES;

/// Ends are scaled and offset, then subtracted; a sample is placed from the start of its element, at
/// its share of the element's length. torchvision and ONNX Runtime.
pub const FROM_ELEMENTS: u32 = 0;
/// The same, but a sample is placed at a multiple of the distance of two samples. OpenVINO.
pub const FROM_ELEMENTS_BY_STEPS: u32 = 1;
/// The same, but a sample is placed from the start of the region, at a multiple of an element's length. Paddle.
pub const FROM_REGION_IN_ELEMENTS: u32 = 2;
/// Ends are scaled, then subtracted; a sample is placed from the start of the region, and the input pixel offset
/// is subtracted last. DirectML.
pub const FROM_REGION: u32 = 3;
/// The difference of the ends is scaled; a sample is placed from the start of the region. TensorFlow.
pub const FROM_REGION_UNSCALED: u32 = 4;

/// A sample is the weighted mean of the two pixels beside it.
pub const BILINEAR: u32 = 0;
/// A sample is the nearest pixel; halfway, the lower one.
pub const NEAREST_HALF_DOWN: u32 = 1;
/// A sample is the nearest pixel; halfway, the upper one.
pub const NEAREST_HALF_UP: u32 = 2;

/// [`MAXIMUM_ADAPTIVE_SAMPLES`], in the type of coordinates.
pub const MOST_SAMPLES: Real = MAXIMUM_ADAPTIVE_SAMPLES as Real;

rule! {
/// How samples are placed along one axis. Each framework's rule is a value of this type.
#[cfg_attr(feature = "cube", derive(CubeType, CubeLaunch), expand(derive(Clone)))]
pub struct SampleRule {
    /// From box coordinates to pixels of the map.
    pub spatial_scale: Real,
    /// Added to a box coordinate before it is scaled.
    pub box_offset: Real,
    /// Added to the high end of a box before anything else.
    pub end_offset: Real,
    /// Subtracted from a scaled coordinate: where the first pixel's centre lies.
    pub input_pixel_offset: Real,
    /// Subtracted from a sample's index.
    pub output_pixel_offset: Real,
    /// The index of the sample that is put at the high end of the region; negative if there is none.
    pub sample_at_end: Real,
    /// The least length of a region in pixels.
    pub minimum_length: Real,
    pub minimum_samples: Real,
    pub maximum_samples: Real,
    pub lower_bound: Real,
    /// The greatest position in bounds lies this much below the map's size.
    pub upper_margin: Real,
    /// 1 if the number of samples is rounded down, 0 if it is rounded up.
    pub rounds_down: u32,
    /// 1 if the samples reach the corners of the region, 0 if they lie evenly inside.
    pub align_corners: u32,
    /// Which products are rounded first: one of the `FROM_…` constants.
    pub arithmetic: u32,
    /// Bilinear or nearest: one of the constants above.
    pub interpolation: u32,
}
}

/// One axis of one region: everything that its samples share.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// Where the region starts, in pixels; for `FROM_REGION` before the input pixel offset is subtracted.
    pub start: Real,
    /// Where the region ends, in pixels.
    pub end: Real,
    /// The length of an output element in pixels.
    pub element: Real,
    /// The distance of two samples in pixels; 0 if samples are not placed by it.
    pub step: Real,
    /// The number of samples of an output element.
    pub samples: u32,
}

/// The two pixels that a sample reads. They coincide at the map's edge and for a nearest pixel.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taps {
    /// The pixel at or before the sample.
    pub low: u32,
    /// The pixel after it.
    pub high: u32,
    /// The weight of `high`; `low` has the rest.
    pub fraction: Real,
}

/// A product that is rounded before anything is added to it, and finite.
///
/// Device compilers fuse a product and a sum into one operation, which changes the last bit; they
/// can't look through a clamp. The clamp also keeps 3e38 * 4 finite.
#[cfg_attr(feature = "cube", cube)]
pub fn product(left: Real, right: Real) -> Real {
    (left * right).clamp(-Real::MAX, Real::MAX)
}

/// The axis of a region from `low` to `high` (box coordinates) with `elements` output elements.
#[cfg_attr(feature = "cube", cube)]
pub fn axis(rule: &SampleRule, low: Real, high: Real, elements: u32) -> Axis {
    let extent = extent(rule, low, high);
    let length = extent.length.clamp(rule.minimum_length, Real::MAX);

    let elements = elements as Real;
    let element = quotient(length, elements);
    let mut samples = rule.minimum_samples;
    if rule.maximum_samples > samples {
        let mut count = element.floor();
        if rule.rounds_down == 0u32 {
            count = ceil_quotient(length, elements);
        }
        samples = count.clamp(samples, rule.maximum_samples);
    }
    let samples = samples.clamp(0.0, MOST_SAMPLES);
    let mut result = Axis {
        start: extent.start,
        end: extent.end,
        element,
        step: 0.0,
        samples: samples as u32,
    };
    let spans = elements * samples - rule.align_corners as Real;
    if spans > 0.0 {
        if !from_elements(rule) {
            result.step = quotient(length, spans);
        } else if rule.arithmetic == FROM_ELEMENTS_BY_STEPS {
            result.step = quotient(element, samples);
        }
    } else if rule.align_corners == 1u32 {
        // One sample on the whole axis can't reach both corners: it takes the middle.
        // Finite, since an infinite middle times the scale 0 of a map of one row is NaN.
        let middle = (extent.low + extent.high).clamp(-Real::MAX, Real::MAX) * 0.5;
        result.start = pixel(rule, middle);
        if rule.arithmetic == FROM_REGION {
            result.start = product(middle, rule.spatial_scale);
        }
    }
    result
}

/// Where a region starts, and how long it is before its least length is applied.
#[cfg_attr(feature = "cube", derive(CubeType))]
pub struct SampleExtent {
    /// The ends in box coordinates, offset.
    low: Real,
    high: Real,
    /// [`Axis::start`].
    start: Real,
    /// [`Axis::end`].
    end: Real,
    /// In pixels.
    pub length: Real,
}

/// The extent of a region from `low` to `high` (box coordinates).
#[cfg_attr(feature = "cube", cube)]
pub fn extent(rule: &SampleRule, low: Real, high: Real) -> SampleExtent {
    let low = (low + rule.box_offset).clamp(-Real::MAX, Real::MAX);
    let high = ((high + rule.end_offset) + rule.box_offset).clamp(-Real::MAX, Real::MAX);
    let mut start = pixel(rule, low);
    let end = pixel(rule, high);
    let mut length = end - start;
    if rule.arithmetic == FROM_REGION {
        start = product(low, rule.spatial_scale);
        length = product(high, rule.spatial_scale) - start;
    }
    if rule.arithmetic == FROM_REGION_UNSCALED {
        // On a map of one row a crop's scale is 0, and 0 times an infinite length is NaN.
        length = product((high - low).clamp(-Real::MAX, Real::MAX), rule.spatial_scale);
    }
    SampleExtent {
        low,
        high,
        start,
        end,
        length,
    }
}

/// A box coordinate in pixels. It is clamped to finite values: the difference of two infinities is NaN.
#[cfg_attr(feature = "cube", cube)]
fn pixel(rule: &SampleRule, coordinate: Real) -> Real {
    (product(coordinate, rule.spatial_scale) - rule.input_pixel_offset).clamp(-Real::MAX, Real::MAX)
}

/// Whether samples are placed by the length of their elements. Corners are reached by counting samples from
/// the start of the region only.
#[cfg_attr(feature = "cube", cube)]
pub fn from_elements(rule: &SampleRule) -> bool {
    rule.arithmetic <= FROM_REGION_IN_ELEMENTS && rule.align_corners == 0u32
}

/// The least whole number whose product with `divisor` reaches `dividend`.
///
/// It equals the ceiling of the correctly rounded quotient, and does not depend on how a device
/// rounds a division: products of whole numbers below 2^24 are exact.
#[cfg_attr(feature = "cube", cube)]
pub fn ceil_quotient(dividend: Real, divisor: Real) -> Real {
    let mut result = (dividend / divisor).ceil();
    if (result - 1.0) * divisor >= dividend {
        result -= 1.0;
    }
    if result * divisor < dividend {
        result += 1.0;
    }
    result
}

/// Where sample `sample` of output element `element` lies, in pixels.
#[cfg_attr(feature = "cube", cube)]
pub fn position(rule: &SampleRule, axis: &Axis, element: u32, sample: u32) -> Real {
    let mut result = axis.start;
    if from_elements(rule) {
        let place = sample as Real - rule.output_pixel_offset;
        let mut inside = product(place, axis.step);
        if rule.arithmetic == FROM_ELEMENTS {
            inside = quotient(product(place, axis.element), axis.samples as Real);
        }
        result = (axis.start + product(element as Real, axis.element)) + inside;
        if rule.arithmetic == FROM_REGION_IN_ELEMENTS {
            let elements = element as Real + quotient(place, axis.samples as Real);
            result = axis.start + product(axis.element, elements);
        }
    } else {
        let number = element as Real * axis.samples as Real + sample as Real;
        result += product(number - rule.output_pixel_offset, axis.step);
        if rule.arithmetic == FROM_REGION {
            // Subtracted from the start instead, 0.5 moves a sample at 15.5 to 15.500001.
            result -= rule.input_pixel_offset;
        } else if number == rule.sample_at_end {
            result = axis.end;
        }
    }
    result
}

/// Whether a position is in bounds on a map of `size` pixels.
#[cfg_attr(feature = "cube", cube)]
pub fn is_in_bounds(rule: &SampleRule, position: Real, size: u32) -> bool {
    position >= rule.lower_bound && position <= size as Real - rule.upper_margin
}

/// The samples of an output element that are in bounds on a map of `size` pixels.
///
/// Positions are monotonic, so these are one run.
#[cfg_attr(feature = "cube", cube)]
pub fn in_bounds(rule: &SampleRule, axis: &Axis, element: u32, size: u32) -> Reach {
    let mut first = 0u32;
    let mut end = axis.samples;
    if axis.samples > 0u32 {
        let nearest = position(rule, axis, element, 0u32);
        let farthest = position(rule, axis, element, axis.samples - 1u32);
        if !is_in_bounds(rule, nearest, size) || !is_in_bounds(rule, farthest, size) {
            let found = search_in_bounds(rule, axis, element, size);
            first = found.first;
            end = found.end;
        }
    }
    Reach { first, end }
}

/// Finds the run by bisection: a region of 1e9 pixels costs no more than one of the map's size.
#[cfg_attr(feature = "cube", cube)]
fn search_in_bounds(rule: &SampleRule, axis: &Axis, element: u32, size: u32) -> Reach {
    let lower = rule.lower_bound;
    let upper = size as Real - rule.upper_margin;
    // An inverted region runs from the upper bound to the lower one.
    let inverted = axis.element < 0.0;

    // The number of samples before the bounds.
    let mut first = 0u32;
    let mut rest = axis.samples;
    while rest > 0u32 {
        let middle = first + rest / 2u32;
        let place = position(rule, axis, element, middle);
        if (place < lower && !inverted) || (place > upper && inverted) {
            rest -= rest / 2u32 + 1u32;
            first = middle + 1u32;
        } else {
            rest /= 2u32;
        }
    }
    // The number of samples before or within them.
    let mut end = first;
    rest = axis.samples - first;
    while rest > 0u32 {
        let middle = end + rest / 2u32;
        let place = position(rule, axis, element, middle);
        if (place > upper && !inverted) || (place < lower && inverted) {
            rest /= 2u32;
        } else {
            rest -= rest / 2u32 + 1u32;
            end = middle + 1u32;
        }
    }
    Reach { first, end }
}

/// The pixels that a sample in bounds reads on a map of `size` pixels.
#[cfg_attr(feature = "cube", cube)]
pub fn taps(rule: &SampleRule, position: Real, size: u32) -> Taps {
    let around = bilinear_taps(position, size);
    let mut low = around.low;
    let mut high = around.high;
    let mut weight = around.fraction;
    if rule.interpolation != BILINEAR {
        if weight > 0.5 || (weight == 0.5 && rule.interpolation == NEAREST_HALF_UP) {
            low = high;
        }
        high = low;
        weight = 0.0;
    }
    Taps {
        low,
        high,
        fraction: weight,
    }
}

/// The two pixels around a position, which is held within a map of `size` pixels.
#[cfg_attr(feature = "cube", cube)]
pub fn bilinear_taps(position: Real, size: u32) -> Taps {
    let last = size - 1u32;
    let inside = position.clamp(0.0, last as Real);
    let whole = inside.floor();
    let low = whole as u32;
    Taps {
        low,
        high: (low + 1u32).min(last),
        fraction: inside - whole,
    }
}
