//! What can go wrong, in words for the person who typed the command.

use std::io;
use std::path::PathBuf;

use burn::tensor::DataError;
use burn_roi_detection::DetectionError;
use burn_roi_detection::weights::WeightsError;
use image::ImageError;

use crate::backend_name::BackendName;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot read the image {}: {source}", path.display())]
    ReadImage { path: PathBuf, source: ImageError },
    #[error("cannot read the folder {}: {source}", path.display())]
    ReadFolder { path: PathBuf, source: io::Error },
    #[error("no picture (.png, .jpg, .jpeg, .webp, .bmp, .gif, .tif or .tiff) in the folder {}", .0.display())]
    EmptyFolder(PathBuf),
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: ImageError },
    #[error("the configuration {} needs its weights: add --weights FILE", .0.display())]
    NoWeights(PathBuf),
    #[error(transparent)]
    Weights(#[from] WeightsError),
    #[error("cannot read the recording {}: {reason}", path.display())]
    ReadRecording { path: PathBuf, reason: String },
    #[error("--compare takes one picture, not {0}")]
    SeveralPictures(usize),
    #[error("these differ from the recording by more than the tolerance: {0}")]
    Differs(String),
    #[error("backend {0} is not compiled in: add --features {0}")]
    NotCompiledIn(BackendName),
    #[cfg(any(feature = "wgpu", feature = "cuda"))]
    #[error("backend {backend} has no device here: {reason}")]
    NoDevice { backend: BackendName, reason: String },
    #[error("backend {backend} has {found} of {count} devices here")]
    FewDevices {
        backend: BackendName,
        found: usize,
        count: usize,
    },
    #[cfg(not(feature = "remote"))]
    #[error("servers are not compiled in: add --features remote")]
    NoServersCompiledIn,
    #[cfg(feature = "remote")]
    #[error("no server is left, and {0} of the pictures are not done")]
    NoServerLeft(usize),
    #[error("an operator refused its arguments: {0}")]
    Refused(#[from] DetectionError),
    #[error("the backend failed: {0}")]
    Data(#[from] DataError),
}
