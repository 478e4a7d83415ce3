//! The trained part of the model, and a step of its training.

use burn::module::Module;
use burn::tensor::Tensor;
use burn::train::{InferenceStep, TrainOutput, TrainStep};
use burn_roi_detection::models::{DetectorConfig, Head, RoiHeads, try_pool_regions};
use burn_roi_detection::{DetectionError, TrainingSamples, try_fastrcnn_loss, try_maskrcnn_loss};

use super::losses::Losses;
use crate::data::Batch;

/// The box head and the mask head.
#[derive(Module, Debug)]
pub struct TrainedHeads {
    pub heads: RoiHeads,
    #[module(skip)]
    config: DetectorConfig,
    /// The factor of a batch's losses in a step.
    #[module(skip)]
    share: f64,
}

impl TrainedHeads {
    /// `devices` is the number of batches whose gradients the learner adds up in a step. The step is by their mean.
    pub fn new(heads: RoiHeads, config: &DetectorConfig, devices: usize) -> Self {
        Self {
            heads,
            config: config.clone(),
            share: 1.0 / devices as f64,
        }
    }

    pub fn losses(&self, batch: &Batch) -> Result<Losses, DetectionError> {
        let samples = &batch.samples;
        let pooled = self.pool(batch, samples, Head::Box)?;
        let (logits, deltas) = self.heads.boxes(pooled);
        let (classes, boxes) = try_fastrcnn_loss(logits, deltas, &samples.labels, &samples.regression_targets)?;

        let positive = samples.positive();
        let pooled = self.pool(batch, &positive, Head::Mask)?;
        let gt_masks: Vec<_> = batch.truth.iter().map(|truth| truth.masks.clone()).collect();
        let gt_labels: Vec<_> = batch.truth.iter().map(|truth| truth.labels.clone()).collect();
        let logits = self.heads.masks(pooled).expect("the shipped model has a mask head");
        let masks = try_maskrcnn_loss(
            logits,
            &positive.proposals,
            &gt_masks,
            &gt_labels,
            &positive.matched_idxs,
        )?;
        Ok(Losses { classes, boxes, masks })
    }

    fn pool(&self, batch: &Batch, samples: &TrainingSamples, head: Head) -> Result<Tensor<4>, DetectionError> {
        let sizes = vec![batch.size; samples.proposals.len()];
        try_pool_regions(&batch.levels, samples.proposals.clone(), &sizes, &self.config, head)
    }
}

impl TrainStep for TrainedHeads {
    type Input = Batch;
    type Output = Losses;

    /// # Panics
    ///
    /// Where an operator refuses its arguments: the learner's steps return no errors.
    fn step(&self, batch: Batch) -> TrainOutput<Losses> {
        let losses = self.losses(&batch).unwrap_or_else(|error| panic!("{error}"));
        let gradients = (losses.total() * self.share).backward();
        TrainOutput::new(self, gradients, losses)
    }
}

impl InferenceStep for TrainedHeads {
    type Input = Batch;
    type Output = Losses;

    /// # Panics
    ///
    /// As for a training step.
    fn step(&self, batch: Batch) -> Losses {
        self.losses(&batch).unwrap_or_else(|error| panic!("{error}"))
    }
}
