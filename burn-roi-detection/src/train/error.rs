//! [`TrainingError`]: why training stopped.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::error::DetectionError;

/// Why training stopped.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainingError {
    /// A part of the detector refused its arguments.
    #[error(transparent)]
    Detection(#[from] DetectionError),
    /// A loss is NaN or infinite. The weights are unchanged by this step.
    #[error("{name} of step {step} is {value}, but must be finite: a lower learning rate may help")]
    NotFinite {
        /// The loss.
        name: &'static str,
        /// The step, counted from 0.
        step: usize,
        /// The value of the loss.
        value: f32,
    },
    /// The checkpoint could not be read or written.
    #[error("the checkpoint {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// The checkpoint is damaged, or belongs to another detector.
    #[error("the checkpoint {}: {reason}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}
