//! The file that training goes on from.

use std::fs;
use std::path::Path;

use super::error::TrainingError;
use crate::weights::write_whole;

/// The first bytes of a checkpoint.
const MAGIC: &[u8; 24] = b"burn-roi checkpoint 1   ";

/// The most steps of a run, so that their count never overflows.
const MOST_STEPS: usize = usize::MAX / 2;

/// The parts of a checkpoint.
pub struct Checkpoint {
    /// The number of steps that were taken.
    pub step: usize,
    /// Burn's record of the model.
    pub model: Vec<u8>,
    /// Burn's record of the optimizer: the momentum of each weight.
    pub optimizer: Vec<u8>,
}

impl Checkpoint {
    /// Writes a file.
    pub fn write(&self, path: &Path) -> Result<(), TrainingError> {
        let numbers = [self.step, self.model.len(), self.optimizer.len()];
        let numbers = numbers.map(|number| (number as u64).to_le_bytes());
        let bytes = [&MAGIC[..], numbers.as_flattened(), &self.model, &self.optimizer].concat();
        write_whole(path, &bytes).map_err(|source| TrainingError::File {
            path: path.to_owned(),
            source,
        })
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, TrainingError> {
        let bytes = fs::read(path).map_err(|source| TrainingError::File {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&bytes).ok_or_else(|| TrainingError::Checkpoint {
            path: path.to_owned(),
            reason: "it is damaged, or no checkpoint".to_string(),
        })
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(MAGIC)?;
        let (numbers, bytes) = bytes.split_first_chunk::<24>()?;
        let (numbers, _) = numbers.as_chunks::<8>();
        let number = |index: usize| usize::try_from(u64::from_le_bytes(numbers[index])).ok();
        let (model, optimizer) = bytes.split_at_checked(number(1)?)?;
        if optimizer.len() != number(2)? {
            return None;
        }
        Some(Self {
            step: number(0).filter(|&step| step <= MOST_STEPS)?,
            model: model.to_vec(),
            optimizer: optimizer.to_vec(),
        })
    }
}
