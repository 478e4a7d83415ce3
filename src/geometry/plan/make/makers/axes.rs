//! The plans of one axis of a region.

use std::ops::Range;

use super::real::Real;
use super::real::bins::{self, BinRule};
use super::real::integrals::{self, IntegralRule};
use super::real::samples::{self, Axis, SampleRule};
use super::real::slopes::{self, Slopes};
use crate::geometry::plan::axis::{SamplePixels, SampleTaps, Weights};
use crate::geometry::plan::planner::AxisRun;

/// The samples of a run of elements.
struct Samples<'a> {
    rule: &'a SampleRule,
    run: &'a AxisRun<'a, Real>,
    axis: Axis,
    /// How they move, if that is wanted.
    slopes: Option<Slopes>,
}

impl<'a> Samples<'a> {
    fn new(rule: &'a SampleRule, run: &'a AxisRun<'a, Real>) -> Self {
        let [low, high] = run.ends;
        let axis = samples::axis(rule, low, high, run.count);
        let slopes = || slopes::slopes(rule, &axis, low, high, run.count);
        Self {
            rule,
            run,
            slopes: run.slopes.then(slopes),
            axis,
        }
    }

    /// The samples of an element that are in bounds.
    fn in_bounds(&self, element: u32) -> Range<u32> {
        let run = samples::in_bounds(self.rule, &self.axis, element, self.run.size);
        run.first..run.end
    }

    fn position(&self, element: u32, sample: u32) -> Real {
        samples::position(self.rule, &self.axis, element, sample)
    }

    fn taps(&self, element: u32, sample: u32) -> samples::Taps {
        samples::taps(self.rule, self.position(element, sample), self.run.size)
    }

    /// The derivative of the weight of a sample's `high` pixel by its position, and of the position by both ends.
    fn slope(&self, slopes: &Slopes, element: u32, sample: u32) -> (Real, [Real; 2]) {
        let position = self.position(element, sample);
        let slope = slopes::weight_slope(self.rule, position, self.run.size, self.run.flat_on_pixels);
        let movement = slopes::movement(self.rule, &self.axis, slopes, element, sample);
        (slope, [movement.low, movement.high])
    }
}

/// The weights of an average over samples, and their slopes if they are wanted.
pub fn weights_of_samples(rule: &SampleRule, run: &AxisRun<Real>) -> Weights<Real> {
    let mut plan = Weights::with_capacity(run.elements.len());
    let samples = Samples::new(rule, run);
    let count = samples.axis.samples as Real;
    for element in run.elements.clone() {
        let in_bounds = samples.in_bounds(element);
        let share = match in_bounds.len() {
            0 => 0.0,
            in_bounds => in_bounds as Real / count,
        };
        let taps = in_bounds.map(|sample| samples.taps(element, sample));
        let pixels = add_weights(taps, count, &mut plan.weights);
        plan.push(pixels, share);
    }
    if let Some(slopes) = &samples.slopes {
        add_slopes_of_weights(&samples, slopes, &mut plan);
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

/// Adds the slopes of the weights of an average over samples.
fn add_slopes_of_weights(samples: &Samples<'_>, slopes: &Slopes, plan: &mut Weights<Real>) {
    let mut moved = [0, 1].map(|_| vec![0.0; plan.weights.len()]);
    let mut first = 0;
    for (element, read) in samples.run.elements.clone().zip(&plan.reads) {
        for sample in samples.in_bounds(element) {
            let taps = samples.taps(element, sample);
            let (slope, movement) = samples.slope(slopes, element, sample);
            for (moved, by) in moved.iter_mut().zip(movement) {
                let change = slope * by / samples.axis.samples as Real;
                moved[first + taps.low as usize - read.pixels.start] -= change;
                moved[first + taps.high as usize - read.pixels.start] += change;
            }
        }
        first += read.pixels.len();
    }
    plan.slopes = moved;
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
    let samples = Samples::new(rule, run);
    for element in run.elements.clone() {
        let (in_bounds, start) = (samples.in_bounds(element), plan.taps.len());
        for sample in in_bounds.clone() {
            let taps = samples.taps(element, sample);
            let (low, high) = (taps.low as usize, taps.high as usize);
            let weights = [1.0 - taps.fraction, taps.fraction];
            if run.splits_samples {
                plan.taps.push(SamplePixels::new([low, low], [weights[0], 0.0]));
                plan.taps.push(SamplePixels::new([high, high], [weights[1], 0.0]));
            } else {
                plan.taps.push(SamplePixels::new([low, high], weights));
            }
            if let Some(slopes) = &samples.slopes {
                let (slope, movement) = samples.slope(slopes, element, sample);
                let tap_slopes: &[[Real; 2]] = match run.splits_samples {
                    true => &[[-slope, 0.0], [slope, 0.0]],
                    false => &[[-slope, slope]],
                };
                plan.by_position.extend(tap_slopes);
                plan.movement.extend(tap_slopes.iter().map(|_| movement));
            }
        }
        plan.samples.push(start..plan.taps.len());
        plan.complete
            .push(samples.axis.samples > 0 && in_bounds.len() == samples.axis.samples as usize);
    }
    plan
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
        for pixel in (pixels.first..pixels.end).filter(|_| run.slopes) {
            let slope = integrals::weight_slope(rule, &bin, element, run.count, pixel);
            plan.slopes[0].push(slope.low);
            plan.slopes[1].push(slope.high);
        }
    }
    plan
}
