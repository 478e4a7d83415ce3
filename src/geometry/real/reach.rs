//! The inverse of [`samples`](super::samples), [`bins`](super::bins) and [`integrals`](super::integrals): which
//! elements of a region read a pixel, along one axis. Kernels whose threads own pixels call these functions.
//!
//! Ranges are estimated and may be too wide, never too narrow; what an element reads of a pixel is exact.

#[cfg(feature = "cube")]
use cubecl::prelude::*;

use super::Real;
use super::between::{Reach, between};
use super::bins::{BinExtent, BinRule, bin};
use super::integrals::{self, IntegralExtent};
use super::samples::{Axis, FROM_REGION, SampleRule, from_elements, is_in_bounds, position, taps};

/// The distance of two samples of a region in pixels, negative in an inverted one.
#[cfg_attr(feature = "cube", cube)]
fn sample_step(rule: &SampleRule, axis: &Axis) -> Real {
    let mut step = axis.step;
    if from_elements(rule) && axis.samples > 0u32 {
        step = axis.element / axis.samples as Real;
    }
    step
}

/// The elements of `elements` that may read one of the pixels from `first` up to and including `last`.
#[cfg_attr(feature = "cube", cube)]
pub fn elements_of_samples(rule: &SampleRule, axis: &Axis, elements: u32, first: u32, last: u32) -> Reach {
    let step = sample_step(rule, axis);
    let mut origin = axis.start - rule.output_pixel_offset * step;
    if rule.arithmetic == FROM_REGION {
        origin -= rule.input_pixel_offset;
    }
    // An element's samples begin up to its length before a pixel that it reads.
    let length = step * axis.samples as Real;
    let low = (first as Real - 1.0).min(first as Real - 1.0 - length);
    let high = (last as Real + 1.0).max(last as Real + 1.0 - length);
    let mut count = elements;
    if axis.samples == 0u32 {
        count = 0u32;
    }
    between(origin, length, low, high, count)
}

/// The samples of an element that may read a pixel.
#[cfg_attr(feature = "cube", cube)]
fn samples_of_element(rule: &SampleRule, axis: &Axis, element: u32, pixel: u32) -> Reach {
    let origin = position(rule, axis, element, 0u32);
    let low = pixel as Real - 1.0;
    let high = pixel as Real + 1.0;
    between(origin, sample_step(rule, axis), low, high, axis.samples)
}

/// The sum of a pixel's weights in the samples of an element: its weight in the average times the number of samples.
#[cfg_attr(feature = "cube", cube)]
pub fn weight_of_samples(rule: &SampleRule, axis: &Axis, element: u32, pixel: u32, size: u32) -> Real {
    let reach = samples_of_element(rule, axis, element, pixel);
    let mut weight = 0.0;
    for sample in reach.first..reach.end {
        let place = position(rule, axis, element, sample);
        if is_in_bounds(rule, place, size) {
            let taps = taps(rule, place, size);
            if taps.low == pixel {
                weight += 1.0 - taps.fraction;
            }
            if taps.high == pixel {
                weight += taps.fraction;
            }
        }
    }
    weight
}

/// The elements of `elements` whose bins may hold one of the pixels from `first` up to and including `last`.
#[cfg_attr(feature = "cube", cube)]
pub fn elements_of_bins(extent: &BinExtent, elements: u32, first: u32, last: u32) -> Reach {
    // A bin begins up to a pixel before its border, and ends up to a pixel after the next.
    let low = first as Real - 1.0 - extent.bin;
    let high = last as Real + 1.0 + extent.bin;
    between(extent.start as Real + extent.offset, extent.bin, low, high, elements)
}

/// The weight of a pixel in the average of a bin: 1 over the number of its pixels, 0 if the pixel is not in the bin.
#[cfg_attr(feature = "cube", cube)]
pub fn weight_of_bin(rule: &BinRule, extent: &BinExtent, element: u32, elements: u32, pixel: u32, size: u32) -> Real {
    let bin = bin(rule, extent, element, elements, size);
    let mut weight = 0.0;
    if pixel >= bin.start && pixel < bin.end {
        weight = 1.0 / (bin.end - bin.start) as Real;
    }
    weight
}

/// The elements of `elements` whose bins may reach the hats of the pixels from `first` up to and including `last`.
#[cfg_attr(feature = "cube", cube)]
pub fn elements_of_integrals(extent: &IntegralExtent, elements: u32, first: u32, last: u32) -> Reach {
    let mut count = elements;
    if extent.bin <= 0.0 {
        count = 0u32;
    }
    // A bin begins up to its length before the hats.
    let low = first as Real - 1.0 - extent.bin;
    let high = last as Real + 1.0;
    between(extent.start, extent.bin, low, high, count)
}

/// The weight of a pixel in a bin of the bilinear map, 0 if the bin is empty or does not reach the pixel's hat.
#[cfg_attr(feature = "cube", cube)]
pub fn weight_of_integral(extent: &IntegralExtent, element: u32, pixel: u32, size: u32) -> Real {
    let bin = integrals::bin(extent, element);
    let pixels = integrals::pixels(&bin, size);
    let mut weight = 0.0;
    if pixel >= pixels.first && pixel < pixels.end {
        weight = integrals::weight(&bin, pixel);
    }
    weight
}
