//! Training of whole detectors: pictures with their objects, batches, losses and steps.
//!
//! - [`Sample`] is a picture with its objects. [`Sample::flip`] is its mirror image.
//! - [`BatchConfig::epoch`] groups samples of similar shape into batches, and [`Prefetch`] makes batches on several
//!   threads ahead of their use. A seed decides both, whatever the number of threads.

mod batches;
mod flip;
mod prefetch;
mod sample;

pub use batches::BatchConfig;
pub use flip::mirrored_keypoints;
pub use prefetch::Prefetch;
pub use sample::{Object, Sample};
