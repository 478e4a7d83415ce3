//! The kernels: one for each kind of plan, for any number of interleaved channels.

mod along_y;
mod average;
mod max_of_pixels;
mod max_of_samples;
mod row_blocks;
mod row_sums;

pub use average::Average;
pub use max_of_pixels::MaxOfPixels;
pub use max_of_samples::MaxOfSamples;
pub use row_sums::weighted_sum;
