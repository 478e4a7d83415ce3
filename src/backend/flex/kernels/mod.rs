//! The kernels: one for each kind of axis plan, for any number of interleaved channels.

mod along_y;
mod average;
mod kernel;
mod max_of_pixels;
mod max_of_samples;
mod row_blocks;
mod row_sums;
mod spread;
mod winners;

pub use average::Average;
pub use kernel::{AlongDepth, Kernel, Window};
pub use max_of_pixels::MaxOfPixels;
pub use max_of_samples::MaxOfSamples;
pub use row_sums::add_pixels;
pub use spread::spread;
pub use winners::{NONE, SampleWinners};
