//! What can be wrong with weights.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

/// How many names of each kind are listed. A file of another architecture has hundreds.
const LISTED: usize = 24;

/// Why weights were not read, loaded or written.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// A file could not be read.
    #[error("cannot read the weights {}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// There is no config of this name or path, or it is not a detector's.
    #[error("the configuration {}: {reason}", path.display())]
    Config {
        /// The name or the file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Bytes are not weights.
    #[error("cannot read the weights: {reason}")]
    Bytes {
        /// Why not.
        reason: String,
    },
    /// A file could not be written.
    #[error("cannot write the weights {}: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The weights do not fit the model, which stays as it was.
    #[error("the weights do not fit the model {model}:{mismatch}")]
    Mismatch {
        /// The model's name in its config.
        model: String,
        /// All differences.
        mismatch: Box<Mismatch>,
    },
    /// A weight is NaN or infinite. The model stays as it was.
    #[error("the weights {name} are not finite: a value is NaN or infinite")]
    NotFinite {
        /// The name of the tensor in the file.
        name: String,
    },
    /// A tensor of the model could not be read or replaced.
    #[error("cannot use the tensor {name} of the model: {reason}")]
    Tensor {
        /// Its name.
        name: String,
        /// Why not.
        reason: String,
    },
}

/// The differences between the tensors of a file and of a model, by the file's names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mismatch {
    /// The tensors of the model that are missing from the file.
    pub missing: Vec<String>,
    /// The tensors of the file that the model does not have.
    pub unexpected: Vec<String>,
    /// The tensors that have another shape in the file than in the model.
    pub misshapen: Vec<Misshapen>,
}

/// A tensor that has another shape in the file than in the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misshapen {
    /// Its name.
    pub name: String,
    /// Its shape in the file.
    pub stored: Vec<usize>,
    /// Its shape in the model.
    pub expected: Vec<usize>,
}

impl Mismatch {
    /// Whether there is no difference.
    pub(super) fn is_none(&self) -> bool {
        self.missing.is_empty() && self.unexpected.is_empty() && self.misshapen.is_empty()
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(formatter, "missing from the file", &self.missing)?;
        list(formatter, "unknown to the model", &self.unexpected)?;
        list(formatter, "of another shape", &self.misshapen)
    }
}

impl fmt::Display for Misshapen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, stored, expected } = self;
        write!(formatter, "{name}: {stored:?} in the file, {expected:?} in the model")
    }
}

fn list<Entry: fmt::Display>(formatter: &mut fmt::Formatter<'_>, what: &str, entries: &[Entry]) -> fmt::Result {
    if entries.is_empty() {
        return Ok(());
    }
    let tensors = if entries.len() == 1 { "tensor" } else { "tensors" };
    write!(formatter, "\n  {} {tensors} {what}:", entries.len())?;
    for entry in entries.iter().take(LISTED) {
        write!(formatter, "\n    {entry}")?;
    }
    match entries.len().checked_sub(LISTED) {
        Some(more @ 1..) => write!(formatter, "\n    and {more} more"),
        _ => Ok(()),
    }
}
