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
    /// A batch of a step with several failed. The weights are unchanged by this step.
    #[error("batch {batch}: {source}")]
    Batch {
        /// The batch, counted from 0.
        batch: usize,
        /// What went wrong.
        source: Box<TrainingError>,
    },
    /// A loss or the norm of the gradients is NaN or infinite. The weights are unchanged by this step.
    #[error(
        "{name} of step {step} is {value}, but must be finite: a lower learning rate may help, and in f16 a lower loss \
         scale"
    )]
    NotFinite {
        /// The loss, or `gradient_norm`.
        name: &'static str,
        /// The step, counted from 0.
        step: usize,
        /// Its value.
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
