//! [`Gradients`]: the losses of batches and the gradients of the weights, each batch on its device.

use std::panic::resume_unwind;
use std::thread;

use burn::module::Module;
use burn::optim::{GradientsAccumulator, GradientsParams};
use burn::tensor::Device;
use burn_roi::RoiError;

use super::batch::TrainingBatch;
use super::clipping::scaled;
use super::detector_losses::{DetectorLosses, try_detector_losses};
use super::error::TrainingError;
use super::half_precision::HalfPrecision;
use super::trainer_config::TrainerConfig;
use crate::arguments;
use crate::error::DetectionError;
use crate::models::{Detector, GeneralizedRcnn};
use crate::random::SplitMix64;
use crate::random_permutations;

/// Sums over batches.
#[derive(Default)]
pub struct Gradients {
    /// Each loss by name.
    pub losses: Vec<(&'static str, f32)>,
    /// The gradients of the weights, times the loss scale of half precision.
    weights: GradientsAccumulator<GeneralizedRcnn>,
}

impl Gradients {
    /// The sums of all batches, each with its own random choice. All devices compute at the same time, and each takes
    /// its batches in order.
    pub fn of_batches(
        detector: &Detector,
        batches: &[TrainingBatch],
        config: &TrainerConfig,
        step: usize,
    ) -> Result<Self, TrainingError> {
        let mut replicas = replicas(detector, batches, config)?.into_iter();
        let sums: Vec<Result<Self, TrainingError>> = thread::scope(|scope| {
            // The norms of `detector` count the updates of their statistics by thread.
            let own = replicas.next();
            let others: Vec<_> = replicas
                .map(|replica| scope.spawn(move || replica.sum(batches, config, step)))
                .collect();
            let own = own.map(|replica| replica.sum(batches, config, step));
            let others = others
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            own.into_iter().chain(others).collect()
        });
        let mut sum = Self::default();
        for device in sums {
            let mut device = device?;
            let weights = device.weights.grads().to_device(detector.device(), detector.model());
            sum.add(device.losses, weights, detector.model());
        }
        Ok(sum)
    }

    /// The losses and gradients of one batch.
    pub fn of_batch(
        detector: &Detector,
        batch: &TrainingBatch,
        config: &TrainerConfig,
        step: usize,
        permutation: &mut impl FnMut(usize) -> Vec<usize>,
    ) -> Result<Self, TrainingError> {
        let half = config.half_precision;
        let cast = half.map(|half| half.cast(detector));
        let layers = cast.as_ref().unwrap_or(detector);
        let losses = try_detector_losses(layers, batch, &config.losses, permutation)?;
        let values = values(&losses, step)?;
        let total = match half {
            Some(half) => losses.total() * half.loss_scale(),
            None => losses.total(),
        };
        let weights = GradientsParams::from_grads(total.backward(), detector.model());
        let mut sum = Self::default();
        sum.add(values, weights, detector.model());
        Ok(sum)
    }

    /// The mean of so many batches: the losses, and the gradients of the weights.
    pub fn mean(
        mut self,
        batches: usize,
        config: &TrainerConfig,
        model: &GeneralizedRcnn,
    ) -> (Vec<(&'static str, f32)>, GradientsParams) {
        let scale = config.half_precision.map_or(1.0, HalfPrecision::loss_scale);
        for (_, loss) in &mut self.losses {
            *loss /= batches as f32;
        }
        let weights = self.weights.grads();
        (self.losses, scaled(model, weights, 1.0 / (batches as f64 * scale)))
    }

    fn add(&mut self, losses: Vec<(&'static str, f32)>, weights: GradientsParams, model: &GeneralizedRcnn) {
        self.weights.accumulate(model, weights);
        if self.losses.is_empty() {
            self.losses = losses;
            return;
        }
        for ((_, sum), (_, loss)) in self.losses.iter_mut().zip(losses) {
            *sum += loss;
        }
    }
}

/// The detector on one of the devices of a step.
struct Replica {
    detector: Detector,
    /// The indices of the batches on this device.
    batches: Vec<usize>,
}

impl Replica {
    fn sum(&self, batches: &[TrainingBatch], config: &TrainerConfig, step: usize) -> Result<Gradients, TrainingError> {
        let mut sum = Gradients::default();
        for &index in &self.batches {
            let permutation = &mut random_permutations(seed(config.seed, step, index));
            let batch = Gradients::of_batch(&self.detector, &batches[index], config, step, permutation);
            let mut batch = batch.map_err(|error| match batches.len() {
                1 => error,
                _ => TrainingError::Batch {
                    batch: index,
                    source: Box::new(error),
                },
            })?;
            sum.add(batch.losses, batch.weights.grads(), self.detector.model());
        }
        Ok(sum)
    }
}

/// The detector on its own device, which may have no batch, and on each other device of the batches.
fn replicas(
    detector: &Detector,
    batches: &[TrainingBatch],
    config: &TrainerConfig,
) -> Result<Vec<Replica>, TrainingError> {
    arguments::check("batches", !batches.is_empty(), "empty", "not empty")?;
    let mut replicas = vec![Replica {
        detector: detector.clone(),
        batches: Vec::new(),
    }];
    for (index, batch) in batches.iter().enumerate() {
        let device = batch.images.tensors.device();
        match replicas.iter_mut().find(|replica| *replica.detector.device() == device) {
            Some(replica) => replica.batches.push(index),
            None => replicas.push(Replica {
                detector: copy(detector, device, config)?,
                batches: vec![index],
            }),
        }
    }
    Ok(replicas)
}

/// A detector on another device, with the same ids of weights. `valid` and `train` give it running statistics of its
/// own: clones share theirs.
fn copy(detector: &Detector, device: Device, config: &TrainerConfig) -> Result<Detector, TrainingError> {
    if let Some(half) = config.half_precision {
        half.check(&device)?;
    }
    let model = detector.model().valid().fork(&device.clone().inner()).train();
    let device = device.autodiff();
    Ok(Detector::try_from_model(detector.config().clone(), model, &device)?)
}

/// The seed of a batch. The first batch of a step has that of the step.
fn seed(seed: u64, step: usize, batch: usize) -> u64 {
    let numbers = [seed, step as u64, batch as u64];
    let count = if batch == 0 { 2 } else { 3 };
    SplitMix64::of(&numbers[..count]).next()
}

/// The value of each loss, all of them finite.
fn values(losses: &DetectorLosses, step: usize) -> Result<Vec<(&'static str, f32)>, TrainingError> {
    let mut values = Vec::new();
    for (name, loss) in losses.named() {
        let read = loss.clone().inner().try_into_scalar::<f32>();
        let value = read.map_err(|error| {
            DetectionError::from(RoiError::DeviceRead {
                reason: error.to_string(),
            })
        })?;
        if !value.is_finite() {
            return Err(TrainingError::NotFinite { name, step, value });
        }
        values.push((name, value));
    }
    Ok(values)
}
