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

fn run(elements: u32, size: u32) -> Run {
    Run {
        elements: 0..elements,
        count: elements,
        size,
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
