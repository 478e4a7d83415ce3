//! What can go wrong, in words for the person who typed the command.

use std::io;
use std::path::PathBuf;

use burn_roi_detection::DetectionError;
use burn_roi_detection::data::coco::CocoReadError;
use burn_roi_detection::train::TrainingError;
use burn_roi_detection::weights::WeightsError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Detector(#[from] detection_head::Error),
    #[error(transparent)]
    Refused(#[from] DetectionError),
    #[error(transparent)]
    Training(#[from] TrainingError),
    #[error(transparent)]
    Weights(#[from] WeightsError),
    #[error("the annotations {}: {source}", path.display())]
    Coco { path: PathBuf, source: CocoReadError },
    #[error("image {id} of {} has no file name, or no picture", path.display())]
    NoPicture { path: PathBuf, id: i64 },
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("the goals are missed: {0}")]
    Missed(String),
}
