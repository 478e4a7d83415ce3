//! Worked examples, on the host alone: where samples and bins fall, from the documents and from
//! measured outputs of the frameworks.

#[cfg(feature = "cube")]
mod angle;
mod bins;
mod integrals;
mod levels;
mod samples;

use std::ops::Range;

use super::plan::{Run, Weights};
use super::real::single::rules::Rules;

/// All elements of an axis on a map of `size` pixels.
fn run(rules: &Rules, ends: [f32; 2], elements: u32, size: u32) -> Run<'_, f32> {
    Run {
        rules,
        axis: 1,
        ends,
        elements: 0..elements,
        count: elements,
        size,
        splits_samples: false,
        flat_on_pixels: false,
    }
}

/// The pixels that each element reads.
fn pixels(plan: &Weights<f32>) -> Vec<Range<usize>> {
    plan.reads.iter().map(|read| read.pixels.clone()).collect()
}

/// The share of each element's samples that are in bounds.
fn shares(plan: &Weights<f32>) -> Vec<f32> {
    plan.reads.iter().map(|read| read.share).collect()
}
