//! Plans of the gradient of boxes, made from the functions that kernels call. Compiled for both types of coordinates:
//! `Real` is the parent's.

use super::Real;
use super::make::{sample_taps, weights_of_samples};
use super::samples::{self, SampleRule};
use super::slopes;
use crate::geometry::plan::{Run, TapSlopes, WeightSlopes};

/// Plans an average.
pub fn weight_slopes(rule: &SampleRule, ends: [Real; 2], run: Run, flat_on_pixels: bool) -> WeightSlopes<Real> {
    let weights = weights_of_samples(rule, ends, run.clone());
    let mut moved = [0, 1].map(|_| vec![0.0; weights.weights.len()]);
    let axis = samples::axis(rule, ends[0], ends[1], run.count);
    let of_region = slopes::slopes(rule, &axis, ends[0], ends[1], run.count);
    let mut first = 0;
    for (element, read) in run.elements.zip(&weights.reads) {
        let pixels = &read.pixels;
        let in_bounds = samples::in_bounds(rule, &axis, element, run.size);
        for sample in in_bounds.first..in_bounds.end {
            let position = samples::position(rule, &axis, element, sample);
            let taps = samples::taps(rule, position, run.size);
            let slope = slopes::weight_slope(rule, position, run.size, flat_on_pixels);
            let movement = slopes::movement(rule, &axis, &of_region, element, sample);
            for (moved, by) in moved.iter_mut().zip([movement.low, movement.high]) {
                let change = slope * by / axis.samples as Real;
                moved[first + taps.low as usize - pixels.start] -= change;
                moved[first + taps.high as usize - pixels.start] += change;
            }
        }
        first += pixels.len();
    }
    WeightSlopes { weights, slopes: moved }
}

/// Plans a maximum over samples. Where `split`, the two pixels of a sample take part one by one.
pub fn tap_slopes(rule: &SampleRule, ends: [Real; 2], run: Run, split: bool, flat_on_pixels: bool) -> TapSlopes<Real> {
    let planned = sample_taps(rule, ends, run.clone(), split);
    let (mut by_position, mut moved) = (Vec::new(), Vec::new());
    let axis = samples::axis(rule, ends[0], ends[1], run.count);
    let of_region = slopes::slopes(rule, &axis, ends[0], ends[1], run.count);
    for element in run.elements {
        let in_bounds = samples::in_bounds(rule, &axis, element, run.size);
        for sample in in_bounds.first..in_bounds.end {
            let position = samples::position(rule, &axis, element, sample);
            let slope = slopes::weight_slope(rule, position, run.size, flat_on_pixels);
            let movement = slopes::movement(rule, &axis, &of_region, element, sample);
            let slopes: &[[Real; 2]] = if split {
                &[[-slope, 0.0], [slope, 0.0]]
            } else {
                &[[-slope, slope]]
            };
            for of_tap in slopes {
                by_position.push(*of_tap);
                moved.push([movement.low, movement.high]);
            }
        }
    }
    TapSlopes {
        samples: planned,
        by_position,
        movement: moved,
    }
}
