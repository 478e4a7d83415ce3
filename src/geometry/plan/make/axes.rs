//! The plans of one axis of a region.

use std::ops::Range;

use super::real::bins::{self, BinRule};
use super::real::integrals::{self, IntegralRule};
use super::real::samples::{self, SampleRule};
use super::real::{Real, slopes};
use crate::geometry::plan::axis::{SampleTaps, Taps, Weights};
use crate::geometry::plan::coordinate::AxisRun;

/// The weights of an average over samples, and their slopes if they are wanted.
pub fn weights_of_samples(rule: &SampleRule, run: &AxisRun<Real>) -> Weights<Real> {
    let mut plan = Weights::with_capacity(run.elements.len());
    let axis = samples::axis(rule, run.ends[0], run.ends[1], run.count);
    for element in run.elements.clone() {
        let in_bounds = samples::in_bounds(rule, &axis, element, run.size);
        let taps = (in_bounds.first..in_bounds.end)
            .map(|sample| samples::taps(rule, samples::position(rule, &axis, element, sample), run.size));
        let pixels = add_weights(taps, axis.samples as Real, &mut plan.weights);
        let share = match in_bounds.end - in_bounds.first {
            0 => 0.0,
            count => count as Real / axis.samples as Real,
        };
        plan.push(pixels, share);
    }
    if run.slopes {
        plan.slopes = slopes_of_samples(rule, run, &plan);
    }
    plan
}

/// Adds up the weights of an element's samples pixel by pixel, appends them, and returns the pixels.
fn add_weights(
    taps: impl DoubleEndedIterator<Item = samples::Taps> + ExactSizeIterator + Clone,
    count: Real,
    weights: &mut Vec<Real>,
) -> Range<usize> {
    // Positions are monotonic, so the first and the last sample are the outermost.
    let (Some(first), Some(last)) = (taps.clone().next(), taps.clone().next_back()) else {
        return 0..0;
    };
    let start = first.low.min(last.low);
    let end = first.high.max(last.high) + 1;
    let base = weights.len();
    weights.resize(base + (end - start) as usize, 0.0);
    for sample in taps {
        weights[base + (sample.low - start) as usize] += 1.0 - sample.fraction;
        weights[base + (sample.high - start) as usize] += sample.fraction;
    }
    for weight in &mut weights[base..] {
        *weight /= count;
    }
    start as usize..end as usize
}

/// The slopes of the weights of an average over samples.
fn slopes_of_samples(rule: &SampleRule, run: &AxisRun<Real>, weights: &Weights<Real>) -> [Vec<Real>; 2] {
    let mut moved = [0, 1].map(|_| vec![0.0; weights.weights.len()]);
    let axis = samples::axis(rule, run.ends[0], run.ends[1], run.count);
    let of_region = slopes::slopes(rule, &axis, run.ends[0], run.ends[1], run.count);
    let mut first = 0;
    for (element, read) in run.elements.clone().zip(&weights.reads) {
        let pixels = &read.pixels;
        let in_bounds = samples::in_bounds(rule, &axis, element, run.size);
        for sample in in_bounds.first..in_bounds.end {
            let position = samples::position(rule, &axis, element, sample);
            let taps = samples::taps(rule, position, run.size);
            let slope = slopes::weight_slope(rule, position, run.size, run.flat_on_pixels);
            let movement = slopes::movement(rule, &axis, &of_region, element, sample);
            for (moved, by) in moved.iter_mut().zip([movement.low, movement.high]) {
                let change = slope * by / axis.samples as Real;
                moved[first + taps.low as usize - pixels.start] -= change;
                moved[first + taps.high as usize - pixels.start] += change;
            }
        }
        first += pixels.len();
    }
    moved
}

/// The samples of a maximum, and the slopes of their weights if they are wanted.
pub fn sample_taps(rule: &SampleRule, run: &AxisRun<Real>) -> SampleTaps<Real> {
    let elements = run.elements.len();
    let mut plan = SampleTaps {
        samples: Vec::with_capacity(elements),
        taps: Vec::new(),
        complete: Vec::with_capacity(elements),
        by_position: Vec::new(),
        movement: Vec::new(),
    };
    let axis = samples::axis(rule, run.ends[0], run.ends[1], run.count);
    for element in run.elements.clone() {
        let in_bounds = samples::in_bounds(rule, &axis, element, run.size);
        let start = plan.taps.len();
        for sample in in_bounds.first..in_bounds.end {
            let taps = samples::taps(rule, samples::position(rule, &axis, element, sample), run.size);
            let both = Taps {
                low: taps.low as usize,
                high: taps.high as usize,
                low_weight: 1.0 - taps.fraction,
                high_weight: taps.fraction,
            };
            if run.splits_samples {
                plan.taps.push(one_pixel(both.low, both.low_weight));
                plan.taps.push(one_pixel(both.high, both.high_weight));
            } else {
                plan.taps.push(both);
            }
        }
        plan.samples.push(start..plan.taps.len());
        plan.complete
            .push(axis.samples > 0 && in_bounds.end - in_bounds.first == axis.samples);
    }
    if run.slopes {
        add_slopes(rule, run, &mut plan);
    }
    plan
}

fn one_pixel(pixel: usize, weight: Real) -> Taps<Real> {
    Taps {
        low: pixel,
        high: pixel,
        low_weight: weight,
        high_weight: 0.0,
    }
}

/// Adds the slopes of the weights of the samples of a maximum.
fn add_slopes(rule: &SampleRule, run: &AxisRun<Real>, plan: &mut SampleTaps<Real>) {
    let axis = samples::axis(rule, run.ends[0], run.ends[1], run.count);
    let of_region = slopes::slopes(rule, &axis, run.ends[0], run.ends[1], run.count);
    for element in run.elements.clone() {
        let in_bounds = samples::in_bounds(rule, &axis, element, run.size);
        for sample in in_bounds.first..in_bounds.end {
            let position = samples::position(rule, &axis, element, sample);
            let slope = slopes::weight_slope(rule, position, run.size, run.flat_on_pixels);
            let movement = slopes::movement(rule, &axis, &of_region, element, sample);
            let of_taps: &[[Real; 2]] = if run.splits_samples {
                &[[-slope, 0.0], [slope, 0.0]]
            } else {
                &[[-slope, slope]]
            };
            for &of_tap in of_taps {
                plan.by_position.push(of_tap);
                plan.movement.push([movement.low, movement.high]);
            }
        }
    }
}

/// The pixels of each bin.
pub fn bins(rule: &BinRule, run: &AxisRun<Real>) -> impl ExactSizeIterator<Item = Range<usize>> {
    let extent = bins::extent(rule, run.ends[0], run.ends[1], run.count);
    let bin = move |element| {
        let bin = bins::bin(rule, &extent, element, run.count, run.size);
        // An empty bin may end before it starts.
        bin.start as usize..bin.end.max(bin.start) as usize
    };
    run.elements.clone().map(bin)
}

/// The weights of an average over bins: every pixel of a bin has the same.
pub fn weights_of_bins(rule: &BinRule, run: &AxisRun<Real>) -> Weights<Real> {
    let mut plan = Weights::with_capacity(run.elements.len());
    for bin in bins(rule, run) {
        let weight = 1.0 / bin.len() as Real;
        plan.weights.resize(plan.weights.len() + bin.len(), weight);
        let share = !bin.is_empty() as u32 as Real;
        plan.push(bin, share);
    }
    plan
}

/// The weights of an average over bins of the bilinear map, and their slopes if they are wanted.
pub fn weights_of_integrals(rule: &IntegralRule, run: &AxisRun<Real>) -> Weights<Real> {
    let mut plan = Weights::with_capacity(run.elements.len());
    let extent = integrals::extent(rule, run.ends[0], run.ends[1], run.count);
    for element in run.elements.clone() {
        let bin = integrals::bin(&extent, element);
        let pixels = integrals::pixels(&bin, run.size);
        let first = plan.weights.len();
        let weights = (pixels.first..pixels.end).map(|pixel| integrals::weight(&bin, pixel));
        plan.weights.extend(weights);
        let share = plan.weights[first..].iter().sum();
        plan.push(pixels.first as usize..pixels.end.max(pixels.first) as usize, share);
    }
    if run.slopes {
        plan.slopes = slopes_of_integrals(rule, run, &plan);
    }
    plan
}

/// The slopes of the weights of an average over bins of the bilinear map.
fn slopes_of_integrals(rule: &IntegralRule, run: &AxisRun<Real>, weights: &Weights<Real>) -> [Vec<Real>; 2] {
    let mut moved = [0, 1].map(|_| Vec::with_capacity(weights.weights.len()));
    let extent = integrals::extent(rule, run.ends[0], run.ends[1], run.count);
    for (element, read) in run.elements.clone().zip(&weights.reads) {
        let bin = integrals::bin(&extent, element);
        for pixel in read.pixels.clone() {
            let slope = integrals::weight_slope(rule, &bin, element, run.count, pixel as u32);
            moved[0].push(slope.low);
            moved[1].push(slope.high);
        }
    }
    moved
}
