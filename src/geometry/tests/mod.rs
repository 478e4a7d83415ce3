//! Worked examples, on the host alone: where samples and bins fall, from the documents and from
//! measured outputs of the frameworks.

#[cfg(feature = "cube")]
mod angle;
mod bins;
mod integrals;
mod levels;
mod samples;

use super::plan::Run;

fn run(elements: u32, size: u32) -> Run {
    Run {
        elements: 0..elements,
        count: elements,
        size,
    }
}
