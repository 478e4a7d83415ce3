//! [`Trainer`]: steps of SGD on a whole detector.

use std::path::Path;

use burn::module::Module;
use burn::optim::ModuleOptimizer;
use burn::store::ModuleRecord;
use burn::tensor::{Bytes, DType};

use super::batch::TrainingBatch;
use super::checkpoint::Checkpoint;
use super::clipping::{clipped, gradient_norm};
use super::error::TrainingError;
use super::gradients::Gradients;
use super::optimizer_state;
use super::trainer_config::TrainerConfig;
use crate::arguments::check;
use crate::models::{Detector, GeneralizedRcnn};

/// Trains a detector by stochastic gradient descent with momentum.
///
/// An interrupted run that continues from a checkpoint ends with the same weights as an uninterrupted run: all random
/// choices come from the seed and the index of the step.
///
/// ```
/// use burn::tensor::Device;
/// use burn_roi_detection::models::{BodyConfig, Detector, DetectorConfig};
/// use burn_roi_detection::train::{LearningRateSchedule, Object, Sample, Trainer, TrainerConfig, TrainingBatch};
///
/// let mut config = DetectorConfig::named("fasterrcnn_resnet50_fpn").unwrap();
/// (config.preprocessing.min_size, config.preprocessing.max_size) = (64, 64);
/// # if let BodyConfig::ResNet(body) = &mut config.body {
/// #     (body.stem_channels, body.bottleneck_channels, body.blocks) = (4, [4; 4], [1; 4]);
/// #     body.batch_norm_epsilon = 1e-5;
/// # }
/// # config.feature_pyramid.as_mut().unwrap().channels = 4;
/// # config.box_head.fully_connected = vec![4];
/// let object = Object::new([8.0, 8.0, 40.0, 40.0], 1);
/// let batch = [Sample::new([64, 64], vec![128; 64 * 64 * 3], vec![object])];
/// let device = Device::default();
/// let batch = TrainingBatch::new(&batch, &config, &device);
///
/// let schedule = LearningRateSchedule::new(0.002);
/// let mut trainer = Trainer::try_new(Detector::new(config, &device), TrainerConfig::new(schedule)).unwrap();
/// for _ in 0..2 {
///     let step = trainer.step(&batch).unwrap();
///     println!("step {}: {:?}", step.step, step.losses);
/// }
/// let detector = trainer.detector();
/// ```
pub struct Trainer {
    /// On an autodiff device.
    detector: Detector,
    optimizer: ModuleOptimizer,
    config: TrainerConfig,
    step: usize,
}

/// What a step of training computed.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingStep {
    /// The step, counted from 0.
    pub step: usize,
    /// The learning rate.
    pub learning_rate: f64,
    /// Each loss before the step, under the name that [`DetectorLosses::named`](super::DetectorLosses::named) has: the
    /// mean over the batches.
    pub losses: Vec<(&'static str, f32)>,
    /// The norm of all gradients together before it was limited. `None` if there is neither a limit nor half precision.
    pub gradient_norm: Option<f64>,
}

impl TrainingStep {
    /// The sum of the losses.
    pub fn total(&self) -> f32 {
        self.losses.iter().map(|(_, loss)| loss).sum()
    }
}

impl Trainer {
    /// A trainer of a detector that is on a device without autodiff.
    ///
    /// # Errors
    ///
    /// - `RoiError::Option`: an option of `config` is out of its range. Each step checks the options of `losses`.
    /// - `RoiError::Option`: the layers of the detector are of f16 or bf16.
    /// - `RoiError::DType`: the device does not support the dtype of `half_precision`.
    pub fn try_new(detector: Detector, config: TrainerConfig) -> Result<Self, TrainingError> {
        config.check()?;
        let dtype = detector.layers_dtype();
        let is_half = matches!(dtype, DType::F16 | DType::BF16);
        let expected = "with layers of f32, which `half_precision` casts for each step";
        check("detector", !is_half, format_args!("with layers of {dtype:?}"), expected)?;
        let device = detector.device().clone().autodiff();
        if let Some(half) = config.half_precision {
            half.check(&device)?;
        }
        let (model_config, mut model) = detector.into_parts();
        model.backbone.body = model.backbone.body.with_frozen_stages(config.frozen_stages);
        let model = model.train().fork(&device);
        Ok(Self {
            detector: Detector::try_from_model(model_config, model, &device)?,
            optimizer: config.optimizer(),
            config,
            step: 0,
        })
    }

    /// The number of steps that were taken.
    pub fn steps(&self) -> usize {
        self.step
    }

    /// The detector with its weights so far, on the device without autodiff.
    ///
    /// # Errors
    ///
    /// All errors of [`Detector::try_new`]. For the config of a trainer, which was checked, there are none.
    pub fn detector(&self) -> Result<Detector, TrainingError> {
        let device = self.detector.device().clone().inner();
        let (config, model) = (self.detector.config().clone(), self.detector.model().valid());
        Ok(Detector::try_from_model(config, model, &device)?)
    }

    /// Takes a step. The seed and the index of the step decide which anchors and proposals are drawn.
    ///
    /// # Errors
    ///
    /// All errors of [`step_batches`](Self::step_batches).
    pub fn step(&mut self, batch: &TrainingBatch) -> Result<TrainingStep, TrainingError> {
        self.step_batches(std::slice::from_ref(batch))
    }

    /// Takes one step with the mean of the gradients of several batches: data-parallel training as torch's
    /// `DistributedDataParallel` if they are on several devices, and gradient accumulation if they are on one.
    ///
    /// - `batches`: each on any device, with or without autodiff. The seed, the index of the step and the index of the
    ///   batch decide its random choice; the first batch draws as in [`step`](Self::step).
    ///
    /// The devices compute at the same time, a thread for each, and the batches of a device one after the other. For
    /// each step, the weights are copied to the other devices and the gradients to the trainer's. Batch normalization
    /// that is not frozen keeps the running statistics of the batches on the trainer's device.
    ///
    /// # Errors
    ///
    /// - `RoiError::Option`: there is no batch.
    /// - `RoiError::DType`: a device does not support the dtype of `half_precision`.
    /// - [`TrainingError::NotFinite`]: a loss or the norm of the gradients is NaN or infinite.
    /// - All errors of [`detector_losses_async`](super::detector_losses_async).
    /// - [`TrainingError::Batch`]: one of these errors, and its batch if there are several.
    pub fn step_batches(&mut self, batches: &[TrainingBatch]) -> Result<TrainingStep, TrainingError> {
        let sum = Gradients::of_batches(&self.detector, batches, &self.config, self.step)?;
        self.update(sum, batches.len())
    }

    /// Like [`step`](Self::step), with a random choice that you pass, as to
    /// [`detector_losses`](super::detector_losses()).
    ///
    /// # Errors
    ///
    /// All errors of [`step`](Self::step).
    pub fn step_with(
        &mut self,
        batch: &TrainingBatch,
        permutation: &mut impl FnMut(usize) -> Vec<usize>,
    ) -> Result<TrainingStep, TrainingError> {
        let sum = Gradients::of_batch(&self.detector, batch, &self.config, self.step, permutation)?;
        self.update(sum, 1)
    }

    /// Updates the weights by the mean of the gradients of so many batches.
    fn update(&mut self, sum: Gradients, batches: usize) -> Result<TrainingStep, TrainingError> {
        let model = self.detector.model();
        let (losses, mut gradients) = sum.mean(batches, &self.config, model);
        let max_norm = self.config.max_gradient_norm;
        let is_checked = max_norm.is_some() || self.config.half_precision.is_some();
        let norm = is_checked.then(|| gradient_norm(model, &gradients));
        if let Some(norm) = norm.filter(|norm| !norm.is_finite()) {
            return Err(TrainingError::NotFinite {
                name: "gradient_norm",
                step: self.step,
                value: norm as f32,
            });
        }
        if let Some((norm, max_norm)) = norm.zip(max_norm) {
            gradients = clipped(model, gradients, norm, max_norm);
        }
        let learning_rate = self.config.learning_rate.rate(self.step);
        let model = self.optimizer.step(learning_rate, model.clone(), gradients);
        *self.detector.model_mut() = model;
        self.step += 1;
        Ok(TrainingStep {
            step: self.step - 1,
            learning_rate,
            losses,
            gradient_norm: norm,
        })
    }

    /// Writes the number of steps, the weights and their momentum into a file.
    ///
    /// # Errors
    ///
    /// [`TrainingError::File`], or [`TrainingError::Checkpoint`] if the weights can't be read from the device.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), TrainingError> {
        let path = path.as_ref();
        let model = self.detector.model().valid().into_record().into_bytes();
        let optimizer = self.optimizer.into_bytes();
        let (Ok(model), Ok(optimizer)) = (model, optimizer) else {
            return Err(damaged(path, "the weights can't be read from the device"));
        };
        let checkpoint = Checkpoint {
            step: self.step,
            model: model.to_vec(),
            optimizer: optimizer.to_vec(),
        };
        checkpoint.write(path)
    }

    /// Continues from a file that [`save`](Self::save) wrote for the same detector and options.
    ///
    /// # Errors
    ///
    /// - [`TrainingError::File`]: the file can't be read.
    /// - [`TrainingError::Checkpoint`]: it is damaged, or its weights or its momentum do not fit this detector. Then
    ///   the trainer stays as it is.
    pub fn load(&mut self, path: impl AsRef<Path>) -> Result<(), TrainingError> {
        let path = path.as_ref();
        let checkpoint = Checkpoint::read(path)?;
        let read = |error: &dyn std::fmt::Display| damaged(path, &error.to_string());
        let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(checkpoint.model)).map_err(|error| read(&error))?;
        let model = self.detector.model().clone().try_load_record(record);
        let model: GeneralizedRcnn = model.map_err(|error| read(&error))?;
        let has_momentum = self.config.momentum > 0.0 && checkpoint.step > 0;
        let state = optimizer_state::read(checkpoint.optimizer, &model, has_momentum).map_err(|error| read(&error))?;
        *self.detector.model_mut() = model;
        self.optimizer = self.config.optimizer().load_record(state);
        self.step = checkpoint.step;
        Ok(())
    }
}

fn damaged(path: &Path, reason: &str) -> TrainingError {
    TrainingError::Checkpoint {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
