//! The training of whole detectors.

mod batches;
mod parity;
mod prefetch;
mod samples;
mod trainer;
