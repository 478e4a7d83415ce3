//! What can go wrong, in words for the person who typed the command.

use std::path::PathBuf;

use burn::backend::ExecutionError;
use burn::tensor::DataError;
use burn_roi::RoiError;
use image::ImageError;

use crate::backend_name::BackendName;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot read the image {}: {source}", path.display())]
    Read { path: PathBuf, source: ImageError },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: ImageError },
    #[error("backend {0} is not compiled in: add --features {0}")]
    NotCompiledIn(BackendName),
    #[cfg(any(feature = "wgpu", feature = "cuda"))]
    #[error("backend {backend} has no device here: {reason}")]
    NoDevice { backend: BackendName, reason: String },
    #[error("an operator refused its arguments: {0}")]
    Refused(#[from] RoiError),
    #[error("the backend failed: {0}")]
    Execution(#[from] ExecutionError),
    #[error("the backend failed: {0}")]
    Data(#[from] DataError),
}
