//! The training of whole detectors.

mod batches;
mod devices;
mod half_precision;
mod pace;
mod parity;
mod prefetch;
mod samples;
mod trainer;
