//! Gives the learner its batches.
//!
//! Burn's own loaders shuffle with a generator that no checkpoint keeps, so a run that goes on after an interruption
//! would see other batches than one that was not interrupted. This loader derives everything from the seed and the
//! number of the epoch.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use burn::data::dataloader::{DataLoader, DataLoaderIterator, Progress};
use burn::data::dataset::DatasetError;
use burn::tensor::Device;
use burn_roi::detection::random_permutations;

use super::batch::{Batch, Truth};
use super::frozen::Frozen;
use crate::drawing::{self, SIZES};
use crate::error::Error;
use crate::random::Random;

/// The number of samples of a picture. A quarter at most is not background. torchvision draws 512 of larger pictures.
const SAMPLES: usize = 32;

/// The pictures of an epoch.
#[derive(Debug, Clone, Copy)]
pub struct Pictures {
    pub seed: u64,
    pub batches: usize,
    /// The number of pictures of a batch.
    pub batch_size: usize,
    /// Whether each epoch has new pictures.
    pub fresh: bool,
}

pub struct PictureLoader {
    pictures: Pictures,
    frozen: Arc<Frozen>,
    /// The batches of an epoch that this loader gives: those of one device.
    range: Range<usize>,
    /// The number of the next epoch, from 0. A loader for another device has a counter of its own.
    epoch: AtomicUsize,
}

impl PictureLoader {
    /// A loader whose first epoch has this number.
    pub fn new(pictures: Pictures, frozen: Arc<Frozen>, epoch: usize) -> Self {
        Self {
            pictures,
            frozen,
            range: 0..pictures.batches,
            epoch: epoch.into(),
        }
    }

    fn with(&self, frozen: Arc<Frozen>, range: Range<usize>) -> Arc<dyn DataLoader<Batch>> {
        Arc::new(Self {
            pictures: self.pictures,
            frozen,
            range,
            epoch: self.epoch.load(Ordering::Relaxed).into(),
        })
    }

    /// Draws the pictures of a batch, and computes their features and samples.
    fn batch(&self, epoch: usize, batch: usize) -> Result<Batch, Error> {
        let Pictures {
            seed,
            batches,
            batch_size,
            fresh,
        } = self.pictures;
        let number = if fresh { epoch * batches + batch } else { batch };
        let [width, height] = SIZES[number % SIZES.len()];
        let mut features = Vec::new();
        let mut truth = Vec::new();
        for index in number * batch_size..(number + 1) * batch_size {
            let picture = drawing::draw(seed, index as u64, [width, height]);
            features.push(self.frozen.features(&picture.pixels)?);
            truth.push(Truth::of(&picture, self.frozen.device()));
        }
        let permutation = &mut random_permutations(Random::new(&[seed, number as u64]).next());
        Ok(Batch::new(features, truth, [height, width], SAMPLES, permutation)?)
    }
}

impl DataLoader<Batch> for PictureLoader {
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<Batch> + 'a> {
        Box::new(Batches {
            loader: self,
            epoch: self.epoch.fetch_add(1, Ordering::Relaxed),
            next: self.range.start,
        })
    }

    fn num_items(&self) -> usize {
        self.range.len()
    }

    fn to_device(&self, device: &Device) -> Arc<dyn DataLoader<Batch>> {
        let frozen = match *self.frozen.device() == device.clone().inner() {
            true => self.frozen.clone(),
            false => Arc::new(self.frozen.on(device)),
        };
        self.with(frozen, self.range.clone())
    }

    fn slice(&self, start: usize, end: usize) -> Arc<dyn DataLoader<Batch>> {
        let first = self.range.start;
        self.with(self.frozen.clone(), first + start..first + end)
    }
}

/// The batches of an epoch.
struct Batches<'a> {
    loader: &'a PictureLoader,
    epoch: usize,
    next: usize,
}

impl Iterator for Batches<'_> {
    type Item = Result<Batch, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = (self.next < self.loader.range.end).then_some(self.next)?;
        self.next += 1;
        let batch = self.loader.batch(self.epoch, batch);
        Some(batch.map_err(DatasetError::new))
    }
}

impl DataLoaderIterator<Batch> for Batches<'_> {
    fn progress(&self) -> Progress {
        let Range { start, end } = self.loader.range;
        Progress::new(self.next - start, end - start, Some("batches".to_string()))
    }
}
