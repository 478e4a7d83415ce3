//! [`BatchSource`]: the batches of a training on a COCO file and its pictures.

use std::ops::Range;

use burn::tensor::Device;

use super::{BatchConfig, Prefetch, TrainingBatch, mirrored_keypoints};
use crate::data::coco::{CocoPictures, CocoPicturesError};
use crate::models::{Detector, DetectorConfig};
use crate::random_permutations;

/// A batch of which no picture is repeated would be smaller than asked for if there are few pictures. Each is taken so
/// many times for each picture of a batch.
const REPEATS: usize = 8;

/// Makes the batches of a training from a COCO file and its pictures. They are shuffled, grouped by shape, and half of
/// them are mirrored. The seed and the index of the step decide all choices, so that a resumed training sees the same
/// batches.
///
/// ```no_run
/// use burn_roi_detection::data::coco::{CocoPictures, CocoPicturesConfig};
/// use burn_roi_detection::models::Detector;
/// use burn_roi_detection::train::{BatchConfig, BatchSource};
///
/// fn count(detector: &Detector) -> Result<(), Box<dyn std::error::Error>> {
///     let pictures = CocoPictures::read("annotations.json", &CocoPicturesConfig::new())?;
///     let source = BatchSource {
///         batches: BatchConfig::new(2),
///         min_sizes: vec![640, 800],
///         ..BatchSource::try_new(pictures, detector)?
///     };
///     for batches in source.prefetch(0..100, 2) {
///         println!("{} pictures", batches?[0].truth.len());
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone)]
pub struct BatchSource {
    /// The annotations, which have what the heads learn: see [`CocoPictures::for_heads`].
    pub pictures: CocoPictures,
    /// The config of the detector, which says how pictures are resized.
    pub config: DetectorConfig,
    /// The devices that train. A step has a batch for each.
    pub devices: Vec<Device>,
    /// The number of pictures of a batch, their groups, and the seed of all choices.
    pub batches: BatchConfig,
    /// The lengths of the shorter side that pictures are resized to: each batch draws one. Empty for the length of
    /// `config`.
    pub min_sizes: Vec<usize>,
}

impl BatchSource {
    /// Batches of one picture for a detector: of the annotations that have what its heads learn, on its device, and of
    /// the size that its config says.
    ///
    /// # Errors
    ///
    /// All errors of [`CocoPictures::for_heads`].
    pub fn try_new(pictures: CocoPictures, detector: &Detector) -> Result<Self, CocoPicturesError> {
        Ok(Self {
            pictures: pictures.for_heads(detector.config())?,
            config: detector.config().clone(),
            devices: vec![detector.device().clone()],
            batches: BatchConfig::new(1),
            min_sizes: Vec::new(),
        })
    }

    /// Makes the batches of steps on several threads, ahead of their use.
    ///
    /// - `threads`: the number of threads; 0 counts as 1. Each holds the pictures of a step, and one step more waits.
    pub fn prefetch(
        self,
        steps: Range<usize>,
        threads: usize,
    ) -> Prefetch<Result<Vec<TrainingBatch>, CocoPicturesError>> {
        Prefetch::new(steps, threads, threads + 1, move |step| self.step(step))
    }

    /// The batches of a step, one for each device.
    ///
    /// # Errors
    ///
    /// - All errors of [`CocoPictures::sample`].
    /// - [`CocoPicturesError::Detection`]: all errors of [`BatchConfig::try_epoch`] and [`TrainingBatch::try_new`].
    pub fn step(&self, step: usize) -> Result<Vec<TrainingBatch>, CocoPicturesError> {
        let devices = self.devices.iter().enumerate();
        let batches = devices.map(|(index, device)| self.batch(step * self.devices.len() + index, device));
        batches.collect()
    }

    fn batch(&self, batch: usize, device: &Device) -> Result<TrainingBatch, CocoPicturesError> {
        let images = self.pictures.dataset().images();
        let repeats = (REPEATS * self.batches.batch_size).div_ceil(images.len());
        let sizes: Vec<[usize; 2]> = images.iter().filter_map(|image| image.size).collect();
        let sizes = sizes.repeat(repeats);
        // Each epoch has as many batches: the groups do not depend on the order.
        let in_epoch = self.batches.try_epoch(&sizes, 0)?.len();
        let of_epoch = self.batches.try_epoch(&sizes, batch / in_epoch)?;
        let mut choose = self.choices(batch);
        let keypoints = self.config.keypoint_head.as_ref().map(|head| &head.keypoints[..]);
        let mirrored = mirrored_keypoints(keypoints.unwrap_or_default());
        let samples = of_epoch[batch % in_epoch].iter().map(|index| {
            let sample = self.pictures.sample(&images[index % images.len()])?;
            Ok(match choose(2) {
                0 => sample,
                _ => sample.flip(&mirrored),
            })
        });
        let samples = samples.collect::<Result<Vec<_>, CocoPicturesError>>()?;
        let mut config = self.config.clone();
        if !self.min_sizes.is_empty() {
            config.preprocessing.min_size = self.min_sizes[choose(self.min_sizes.len())];
        }
        Ok(TrainingBatch::try_new(&samples, &config, device)?)
    }

    /// Random numbers below a limit.
    fn choices(&self, batch: usize) -> impl FnMut(usize) -> usize {
        let mut permutation = random_permutations(self.batches.seed.wrapping_mul(1 << 32).wrapping_add(batch as u64));
        move |limit| permutation(limit)[0]
    }
}
