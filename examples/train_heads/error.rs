//! What can go wrong, in words for the person who typed the command.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use burn::tensor::{DataError, TensorReadError};
use burn::train::TrainingError;
use burn_roi_detection::DetectionError;
use burn_roi_detection::weights::WeightsError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Detector(#[from] detection_head::Error),
    #[error(transparent)]
    Weights(#[from] WeightsError),
    #[error("an operator refused its arguments: {0}")]
    Refused(#[from] DetectionError),
    #[error("the backend failed: {0}")]
    Data(#[from] DataError),
    #[error("the backend failed: {0}")]
    Read(#[from] TensorReadError),
    #[error("{argument} must be {expected}, not {value}")]
    Argument {
        argument: &'static str,
        value: String,
        expected: String,
    },
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error(
        "the interrupted run in {} has other settings ({found}): give the same ones, or --restart to begin anew",
        folder.display()
    )]
    OtherRun { folder: PathBuf, found: String },
    #[error("the thread that makes batches has failed")]
    NoBatch,
    #[error("training stopped: {0}")]
    Training(Arc<TrainingError>),
    #[error("these differ from the recording by more than {tolerance:e}: {}", names.join(", "))]
    Differs { tolerance: f64, names: Vec<String> },
    #[error("the goals are missed: {}", .0.join("; "))]
    Missed(Vec<String>),
}
