//! What can be wrong with a checkpoint.

use std::path::PathBuf;

use thiserror::Error;

use crate::weights::pickle::PickleError;

/// Why a file was refused as a checkpoint of detectron2.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// A file is no checkpoint.
    #[error("cannot read the checkpoint {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<CheckpointError>,
    },
    /// The file can't be read.
    #[error("{reason}")]
    File {
        /// What the system says.
        reason: String,
    },
    /// The file's name has another ending.
    #[error("its name must end in .pkl or .pth")]
    Ending,
    /// The file is no pickle of dictionaries and arrays.
    #[error(transparent)]
    Pickle(#[from] PickleError),
    /// The file is no checkpoint that torch wrote.
    #[error("{reason}")]
    PyTorch {
        /// What is wrong with it.
        reason: String,
    },
    /// The file has no weights.
    #[error("it must be a dictionary with an entry `model`, but is {found}")]
    NoModel {
        /// What it is.
        found: String,
    },
    /// An entry of `model` is no array.
    #[error("`model[{name:?}]` is {found}, but must be an array of NumPy")]
    NoArray {
        /// The name of the weight.
        name: String,
        /// What it is.
        found: &'static str,
    },
    /// A name of `model` is no text.
    #[error("a name in `model` is {found}, but must be text")]
    Name {
        /// What it is.
        found: &'static str,
    },
    /// A name is in `model` twice.
    #[error("`model` has {name:?} twice")]
    Twice {
        /// The name.
        name: String,
    },
    /// The weights share bytes so often that they would take far more memory than the file.
    #[error("the weights together have more than {limit} bytes, twice as many as the file")]
    Shared {
        /// The most that they may have together.
        limit: usize,
    },
}
