//! The trained part of the model, and a step of its training.

use burn::module::Module;
use burn::tensor::Tensor;
use burn::train::{InferenceStep, TrainOutput, TrainStep};
use burn_roi_detection::{DetectionError, TrainingSamples, try_fastrcnn_loss, try_maskrcnn_loss};
use detection_head::config::Config;
use detection_head::model::RoiHeads;
use detection_head::pool;

use super::losses::Losses;
use crate::data::Batch;

/// The box head and the mask head.
#[derive(Module, Debug)]
pub struct TrainedHeads {
    pub heads: RoiHeads,
    #[module(skip)]
    pooling: Pooling,
    /// The factor of a batch's losses in a step.
    #[module(skip)]
    share: f64,
}

/// The pooled size and the sampling ratio of either head.
#[derive(Debug, Clone)]
struct Pooling {
    boxes: [usize; 2],
    masks: [usize; 2],
}

impl TrainedHeads {
    /// `devices` is the number of batches whose gradients the learner adds up in a step. The step is by their mean.
    pub fn new(heads: RoiHeads, config: &Config, devices: usize) -> Self {
        let (boxes, masks) = (&config.box_head, &config.mask_head);
        let pooling = Pooling {
            boxes: [boxes.pooled_size, boxes.sampling_ratio],
            masks: [masks.pooled_size, masks.sampling_ratio],
        };
        Self {
            heads,
            pooling,
            share: 1.0 / devices as f64,
        }
    }

    pub fn losses(&self, batch: &Batch) -> Result<Losses, DetectionError> {
        let samples = &batch.samples;
        let pooled = pool_samples(batch, samples, self.pooling.boxes)?;
        let (logits, deltas) = self.heads.boxes(pooled);
        let (classes, boxes) = try_fastrcnn_loss(logits, deltas, &samples.labels, &samples.regression_targets)?;

        let positive = samples.positive();
        let pooled = pool_samples(batch, &positive, self.pooling.masks)?;
        let gt_masks: Vec<_> = batch.truth.iter().map(|truth| truth.masks.clone()).collect();
        let gt_labels: Vec<_> = batch.truth.iter().map(|truth| truth.labels.clone()).collect();
        let masks = try_maskrcnn_loss(
            self.heads.masks(pooled),
            &positive.proposals,
            &gt_masks,
            &gt_labels,
            &positive.matched_idxs,
        )?;
        Ok(Losses { classes, boxes, masks })
    }
}

fn pool_samples(
    batch: &Batch,
    samples: &TrainingSamples,
    [size, ratio]: [usize; 2],
) -> Result<Tensor<4>, DetectionError> {
    pool(&batch.levels, samples.proposals.clone(), batch.size, size, ratio)
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
