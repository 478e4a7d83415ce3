//! Gives the learner its batches.
//!
//! Burn's own loaders shuffle with a generator that no checkpoint keeps, so a run that goes on after an interruption
//! would see other batches than one that was not interrupted. This loader derives everything from the seed and the
//! number of the epoch.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use burn::data::dataloader::{DataLoader, DataLoaderIterator, Progress};
use burn::data::dataset::DatasetError;
use burn::tensor::Device;
use burn_roi_detection::random_permutations;

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
    source: Source,
    /// The batches of an epoch that this loader gives: those of one device.
    range: Range<usize>,
    /// The number of the next epoch, from 0. A loader for another device has a counter of its own.
    epoch: AtomicUsize,
}

impl PictureLoader {
    /// A loader whose first epoch has this number.
    pub fn new(pictures: Pictures, frozen: Arc<Frozen>, epoch: usize) -> Self {
        Self {
            source: Source { pictures, frozen },
            range: 0..pictures.batches,
            epoch: epoch.into(),
        }
    }

    fn with(&self, frozen: Arc<Frozen>, range: Range<usize>) -> Arc<dyn DataLoader<Batch>> {
        let epoch = self.epoch.load(Ordering::Relaxed);
        let loader = Self::new(self.source.pictures, frozen, epoch);
        Arc::new(Self { range, ..loader })
    }
}

impl DataLoader<Batch> for PictureLoader {
    /// The batches of the next epoch. While the learner trains with one, a thread makes the next.
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<Batch> + 'a> {
        let (source, range) = (self.source.clone(), self.range.clone());
        let epoch = self.epoch.fetch_add(1, Ordering::Relaxed);
        let (sender, batches) = mpsc::sync_channel(1);
        thread::spawn(move || {
            let batches = range.map(|batch| source.batch(epoch, batch));
            for batch in batches {
                // The learner may stop before the last batch. Then there is no receiver.
                if sender.send(batch).is_err() {
                    break;
                }
            }
        });
        Box::new(Batches {
            batches,
            given: 0,
            total: self.range.len(),
        })
    }

    fn num_items(&self) -> usize {
        self.range.len()
    }

    fn to_device(&self, device: &Device) -> Arc<dyn DataLoader<Batch>> {
        let frozen = &self.source.frozen;
        let frozen = match *frozen.device() == device.clone().inner() {
            true => frozen.clone(),
            false => Arc::new(frozen.on(device)),
        };
        self.with(frozen, self.range.clone())
    }

    fn slice(&self, start: usize, end: usize) -> Arc<dyn DataLoader<Batch>> {
        let first = self.range.start;
        self.with(self.source.frozen.clone(), first + start..first + end)
    }
}

/// The batches of an epoch.
struct Batches {
    batches: Receiver<Result<Batch, Error>>,
    given: usize,
    total: usize,
}

impl Iterator for Batches {
    type Item = Result<Batch, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.given == self.total {
            return None;
        }
        self.given += 1;
        let batch = self.batches.recv().unwrap_or(Err(Error::NoBatch));
        Some(batch.map_err(DatasetError::new))
    }
}

impl DataLoaderIterator<Batch> for Batches {
    fn progress(&self) -> Progress {
        Progress::new(self.given, self.total, Some("batches".to_string()))
    }
}

/// Makes batches.
#[derive(Clone)]
struct Source {
    pictures: Pictures,
    frozen: Arc<Frozen>,
}

impl Source {
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
