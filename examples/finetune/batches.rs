//! The batches of a run.

use std::sync::Arc;

use burn::tensor::Device;
use burn_roi_detection::models::DetectorConfig;
use burn_roi_detection::random_permutations;
use burn_roi_detection::train::{BatchConfig, Prefetch, TrainingBatch, mirrored_keypoints};

use crate::arguments::Arguments;
use crate::error::Error;
use crate::pictures::Pictures;

/// A batch of which no picture is repeated would be smaller than asked for if there are few pictures. Each is taken so
/// many times for each picture of a batch.
const REPEATS: usize = 8;

/// Makes the batches of a step, by the seed and the number of the step alone.
struct Source {
    pictures: Pictures,
    config: DetectorConfig,
    min_sizes: Vec<usize>,
    batches: BatchConfig,
    mirrored: Vec<usize>,
    /// A batch of each step is for each of these.
    devices: Vec<Device>,
}

/// The batches of the steps from `first` on.
pub fn batches(
    pictures: &Pictures,
    config: &DetectorConfig,
    devices: &[Device],
    first: usize,
    arguments: &Arguments,
) -> Prefetch<Result<Vec<TrainingBatch>, Error>> {
    let keypoints = config.keypoint_head.as_ref().map(|head| &head.keypoints[..]);
    let source = Arc::new(Source {
        pictures: pictures.clone(),
        config: config.clone(),
        min_sizes: match arguments.min_size.is_empty() {
            true => vec![config.preprocessing.min_size],
            false => arguments.min_size.clone(),
        },
        batches: BatchConfig {
            seed: arguments.seed,
            ..BatchConfig::new(arguments.batch_size.get())
        },
        mirrored: mirrored_keypoints(keypoints.unwrap_or_default()),
        devices: devices.to_vec(),
    });
    let (threads, steps) = (arguments.threads(), arguments.steps.get());
    // One waits while each thread makes one: a step's pictures can have hundreds of megabytes.
    Prefetch::new(first..steps, threads, threads + 1, move |step| source.step(step))
}

impl Source {
    fn step(&self, step: usize) -> Result<Vec<TrainingBatch>, Error> {
        let devices = self.devices.iter().enumerate();
        let batches = devices.map(|(index, device)| self.batch(step * self.devices.len() + index, device));
        batches.collect()
    }

    fn batch(&self, batch: usize, device: &Device) -> Result<TrainingBatch, Error> {
        let images = self.pictures.dataset.images();
        let repeats = (REPEATS * self.batches.batch_size).div_ceil(images.len());
        let sizes: Vec<[usize; 2]> = images.iter().filter_map(|image| image.size).collect();
        let sizes = sizes.repeat(repeats);
        // Each epoch has as many batches: the groups do not depend on the order.
        let in_epoch = self.batches.try_epoch(&sizes, 0)?.len();
        let of_epoch = self.batches.try_epoch(&sizes, batch / in_epoch)?;
        let mut choose = self.choices(batch);
        let samples = of_epoch[batch % in_epoch].iter().map(|index| {
            let sample = self.pictures.sample(&images[index % images.len()])?;
            Ok(match choose(2) {
                0 => sample,
                _ => sample.flip(&self.mirrored),
            })
        });
        let samples = samples.collect::<Result<Vec<_>, Error>>()?;
        let mut config = self.config.clone();
        config.preprocessing.min_size = self.min_sizes[choose(self.min_sizes.len())];
        Ok(TrainingBatch::try_new(&samples, &config, device)?)
    }

    /// Random numbers below a limit.
    fn choices(&self, batch: usize) -> impl FnMut(usize) -> usize {
        let mut permutation = random_permutations(self.batches.seed.wrapping_mul(1 << 32).wrapping_add(batch as u64));
        move |limit| permutation(limit)[0]
    }
}
