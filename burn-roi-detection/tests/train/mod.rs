//! The training of whole detectors.

mod batches;
mod prefetch;
mod samples;
