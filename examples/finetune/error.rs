//! What can go wrong, in words for the person who typed the command.

use std::io;
use std::path::PathBuf;

use burn_roi_detection::DetectionError;
use burn_roi_detection::data::coco::CocoPicturesError;
use burn_roi_detection::train::TrainingError;
use burn_roi_detection::weights::WeightsError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Detector(#[from] find_objects::Error),
    #[error(transparent)]
    Refused(#[from] DetectionError),
    #[error(transparent)]
    Training(#[from] TrainingError),
    #[error(
        "{source}. The learning rate is {rate}: begin again with a lower one, such as --rate {:.1e}. A resumed run has \
         the same rate: remove {}, or name another folder by --output",
        rate / 10.0,
        checkpoint.display()
    )]
    NotFinite {
        source: Box<TrainingError>,
        rate: f64,
        checkpoint: PathBuf,
    },
    #[error(transparent)]
    Weights(#[from] WeightsError),
    #[error(transparent)]
    Pictures(#[from] CocoPicturesError),
    #[error(
        "the configuration {} needs weights to begin with: add --weights FILE, or --backbone FILE for a backbone alone",
        .0.display()
    )]
    NoWeights(PathBuf),
    #[error("category {category} of {} is not one of the categories that are trained", path.display())]
    Category { path: PathBuf, category: String },
    #[error("no category of {} has the name of one of the detector's classes: {classes}", path.display())]
    NoClass { path: PathBuf, classes: String },
    #[error("category {category} of {} has the name of another: rename or join them", path.display())]
    SameName { path: PathBuf, category: String },
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{} is the checkpoint of an interrupted run: add --resume to go on with it, or remove it", .0.display())]
    Interrupted(PathBuf),
    #[error("there is no interrupted run to resume: {} does not exist", .0.display())]
    NothingToResume(PathBuf),
    #[error("the history {}: {reason}", path.display())]
    History { path: PathBuf, reason: String },
    #[error("the interrupted run had other options: {}", .0.join(", "))]
    OtherOptions(Vec<String>),
    #[error("the goals are missed: {0}")]
    Missed(String),
}
