//! What can go wrong, in words for the person who typed the command.

use std::path::PathBuf;

use burn::backend::ExecutionError;
use burn::tensor::DataError;
use burn_roi::RoiError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file, a folder or a backend.
    #[error(transparent)]
    Input(#[from] find_objects::Error),
    #[error("{unread} of {of} pictures could not be read")]
    Unread { unread: usize, of: usize },
    #[error("cannot read the weights {}: {source}", path.display())]
    ReadWeights { path: PathBuf, source: std::io::Error },
    #[error("these are not the weights of MTCNN: {0}")]
    Weights(String),
    #[error("the picture is empty: it must have at least one pixel")]
    EmptyPicture,
    #[error("the least face is {0} pixels: it must be 12 or more, and finite")]
    LeastFace(f64),
    #[error("an operator refused its arguments: {0}")]
    Refused(#[from] RoiError),
    #[error("the backend failed: {0}")]
    Execution(#[from] ExecutionError),
    #[error("the backend failed: {0}")]
    Data(#[from] DataError),
}
