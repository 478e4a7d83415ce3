//! The taps of an element along an axis: the pixels that it reads, each with its weight in the mean.

use cubecl::prelude::*;

use super::layout::{AxisLayout, TapWriter, end_element, reach, tap_writer, write_tap};
use crate::geometry::real::single::between::Reach;
use crate::geometry::real::single::bins::{self, BinRule};
use crate::geometry::real::single::integrals::{self, IntegralRule};
use crate::geometry::real::single::samples::{SampleRule, axis, bilinear_taps, in_bounds, position, taps};

/// A region along an axis, and an element of it.
#[derive(CubeType)]
pub struct AlongAxis<'a> {
    /// The ends of the box.
    pub low: f32,
    pub high: f32,
    pub element: u32,
    /// The pixels of the map.
    pub size: u32,
    /// Where the plan of the region starts, and how it lies there.
    pub start: usize,
    pub layout: &'a AxisLayout,
}

/// Writes an element that reads nothing.
#[cube]
pub fn write_nothing(plans: &mut Tensor<u32>, along: &AlongAxis<'_>) {
    let mut writer = tap_writer(along.start, along.layout, along.element, 0u32, 0u32);
    end_element(plans, along.start, along.layout, along.element, &mut writer, 0.0f32);
}

/// Two neighbouring pixels that samples were found to read, and their weights so far.
#[derive(CubeType)]
struct Neighbours {
    low: u32,
    low_weight: f32,
    /// Whether the pixel after it was read too.
    has_high: bool,
    high_weight: f32,
}

/// Writes an element that reads samples. Samples that read the same pixels share taps.
#[cube]
pub fn write_samples(plans: &mut Tensor<u32>, rule: &SampleRule, along: &AlongAxis<'_>) {
    let (element, size) = (along.element, along.size);
    let axis = axis(rule, along.low, along.high, along.layout.elements);
    let found = in_bounds(rule, &axis, element, size);
    let count = found.end - found.first;
    if count == 0u32 {
        write_nothing(plans, along);
    } else {
        // From the least pixel to the greatest.
        let is_inverted = axis.element < 0.0;
        let mut order = element;
        if is_inverted {
            order = along.layout.elements - 1u32 - element;
        }
        let samples = axis.samples as f32;
        let begin = select(is_inverted, found.end - 1u32, found.first);
        let first = taps(rule, position(rule, &axis, element, begin), size);
        let mut writer = tap_writer(along.start, along.layout, element, order, first.low);
        let mut neighbours = Neighbours {
            low: first.low,
            low_weight: 0.0f32,
            has_high: false,
            high_weight: 0.0f32,
        };
        for number in 0..count {
            let sample = select(is_inverted, begin - number, begin + number);
            let next = taps(rule, position(rule, &axis, element, sample), size);
            if next.low != neighbours.low {
                go_on_to(plans, &mut writer, &mut neighbours, next.low, samples);
            }
            neighbours.low_weight += 1.0 - next.fraction;
            if next.high == next.low {
                neighbours.low_weight += next.fraction;
            } else {
                neighbours.has_high = true;
                neighbours.high_weight += next.fraction;
            }
        }
        write_tap(plans, &mut writer, neighbours.low, neighbours.low_weight / samples);
        if neighbours.has_high {
            let weight = neighbours.high_weight / samples;
            write_tap(plans, &mut writer, neighbours.low + 1u32, weight);
        }
        let share = count as f32 / samples;
        end_element(plans, along.start, along.layout, element, &mut writer, share);
    }
}

/// Writes the pixels that no later sample reads.
#[cube]
fn go_on_to(plans: &mut Tensor<u32>, writer: &mut TapWriter, neighbours: &mut Neighbours, low: u32, samples: f32) {
    write_tap(plans, writer, neighbours.low, neighbours.low_weight / samples);
    let mut kept = 0.0f32;
    if neighbours.has_high {
        if low == neighbours.low + 1u32 {
            kept = neighbours.high_weight;
        } else {
            let weight = neighbours.high_weight / samples;
            write_tap(plans, writer, neighbours.low + 1u32, weight);
        }
    }
    neighbours.low = low;
    neighbours.low_weight = kept;
    neighbours.has_high = false;
    neighbours.high_weight = 0.0f32;
}

/// Writes an element that reads whole pixels.
#[cube]
pub fn write_bin(plans: &mut Tensor<u32>, rule: &BinRule, along: &AlongAxis<'_>) {
    let elements = along.layout.elements;
    let extent = bins::extent(rule, along.low, along.high, elements);
    let bin = bins::bin(rule, &extent, along.element, elements, along.size);
    let mut writer = tap_writer(along.start, along.layout, along.element, along.element, bin.start);
    let weight = 1.0 / (bin.end - bin.start) as f32;
    for pixel in bin.start..bin.end {
        write_tap(plans, &mut writer, pixel, weight);
    }
    let share = select(bin.start < bin.end, 1.0f32, 0.0f32);
    end_element(plans, along.start, along.layout, along.element, &mut writer, share);
}

/// Writes an element that reads a bin of the bilinear map.
#[cube]
pub fn write_integral(plans: &mut Tensor<u32>, rule: &IntegralRule, along: &AlongAxis<'_>) {
    let extent = integrals::extent(rule, along.low, along.high, along.layout.elements);
    let bin = integrals::bin(&extent, along.element);
    let pixels = integrals::pixels(&bin, along.size);
    let mut writer = tap_writer(along.start, along.layout, along.element, along.element, pixels.first);
    let mut share = 0.0f32;
    for pixel in pixels.first..pixels.end {
        let weight = integrals::weight(&bin, pixel);
        write_tap(plans, &mut writer, pixel, weight);
        share += weight;
    }
    end_element(plans, along.start, along.layout, along.element, &mut writer, share);
}

/// The pixels that samples of a region may read.
#[cube]
pub fn window_of_samples(rule: &SampleRule, along: &AlongAxis<'_>) -> Reach {
    let axis = axis(rule, along.low, along.high, along.layout.elements);
    let mut window = Reach { first: 0u32, end: 0u32 };
    if axis.samples > 0u32 {
        let one = position(rule, &axis, 0u32, 0u32);
        let other = position(rule, &axis, along.layout.elements - 1u32, axis.samples - 1u32);
        // Positions that should be equal may be rounded apart.
        let slack = one.abs() * 1e-6 + other.abs() * 1e-6;
        let low = one.min(other) - slack;
        let high = one.max(other) + slack;
        window.first = bilinear_taps(low, along.size).low;
        window.end = bilinear_taps(high, along.size).high + 1u32;
    }
    window
}

/// The pixels that bins of a region read.
#[cube]
pub fn window_of_bins(rule: &BinRule, along: &AlongAxis<'_>) -> Reach {
    let elements = along.layout.elements;
    let extent = bins::extent(rule, along.low, along.high, elements);
    let one = bins::bin(rule, &extent, 0u32, elements, along.size);
    let other = bins::bin(rule, &extent, elements - 1u32, elements, along.size);
    reach(one.start.min(other.start), one.end.max(other.end))
}

/// The pixels that bins of the bilinear map read.
#[cube]
pub fn window_of_integrals(rule: &IntegralRule, along: &AlongAxis<'_>) -> Reach {
    let elements = along.layout.elements;
    let extent = integrals::extent(rule, along.low, along.high, elements);
    let first = integrals::pixels(&integrals::bin(&extent, 0u32), along.size);
    let last = integrals::pixels(&integrals::bin(&extent, elements - 1u32), along.size);
    reach(first.first, last.end.max(first.first))
}
