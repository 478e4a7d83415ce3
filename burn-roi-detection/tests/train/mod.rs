//! The training of whole detectors.

mod batches;
mod cascade;
mod configs;
mod custom_body;
mod devices;
mod half_precision;
mod pace;
mod parity;
mod prefetch;
mod samples;
mod trainer;
