//! Training of whole detectors: pictures with their objects, batches, losses and steps.
//!
//! - [`Sample`] is a picture with its objects. [`Sample::flip`] is its mirror image.
//! - [`BatchConfig::epoch`] groups samples of similar shape into batches, and [`Prefetch`] makes batches on several
//!   threads ahead of their use. A seed decides both, whatever the number of threads.
//! - [`TrainingBatch`] is samples as a detector's input and targets, and [`detector_losses`] computes its losses, also
//!   those of the stages of a cascade.
//! - [`Trainer`] takes steps of SGD, on one device or several, in f32 or in [`HalfPrecision`]. [`TrainingPace`] says
//!   how fast.
//! - With the feature `pictures`, `BatchSource` makes all batches of a training from a COCO file and its pictures.

mod batch;
#[cfg(feature = "pictures")]
mod batch_source;
mod batches;
mod box_losses;
mod checkpoint;
mod clipping;
mod detector_losses;
mod error;
mod gradients;
mod half_precision;
mod loss_config;
mod new_classes;
mod optimizer_state;
mod pace;
mod prefetch;
mod sample;
mod schedule;
mod trainer;
mod trainer_config;

pub use batch::{GroundTruth, TrainingBatch};
#[cfg(feature = "pictures")]
pub use batch_source::BatchSource;
pub use batches::BatchConfig;
pub use detector_losses::{BoxLosses, DetectorLosses, detector_losses, detector_losses_async, try_detector_losses};
pub use error::TrainingError;
pub use half_precision::HalfPrecision;
pub use loss_config::DetectorLossConfig;
pub use new_classes::{with_categories, with_new_classes, with_new_keypoints};
pub use pace::TrainingPace;
pub use prefetch::Prefetch;
pub use sample::{Object, Sample, mirrored_keypoints};
pub use schedule::LearningRateSchedule;
pub use trainer::{Trainer, TrainingStep};
pub use trainer_config::TrainerConfig;
