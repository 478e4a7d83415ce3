//! The losses of the box heads. Those of a cascade are detectron2's.

use burn::tensor::Tensor;

use super::detector_losses::{BoxLosses, Step};
use crate::error::DetectionError;
use crate::host;
use crate::losses::box_head_losses;
use crate::models::{Head, background_first, refined_boxes};
use crate::targets::{GroundTruth, Matcher, TrainingSamples};

impl Step<'_> {
    /// The losses of the first box head and of the later stages.
    pub async fn box_losses(
        &self,
        levels: &[Tensor<4>],
        samples: &TrainingSamples,
    ) -> Result<(BoxLosses, Vec<BoxLosses>), DetectionError> {
        if let Some(zero) = self.without_samples(levels, samples) {
            let (classifier, boxes) = (zero.clone(), zero);
            return Ok((BoxLosses { classifier, boxes }, Vec::new()));
        }
        let head = &self.detector.config().box_head;
        let (first, mut deltas) = self.stage_losses(0, levels, samples).await?;
        let (mut samples, mut weights, mut later) = (samples.clone(), head.weights, Vec::new());
        let (boxes, labels) = (&self.boxes(), &self.labels());
        let truth = GroundTruth { boxes, labels };
        let thresholds = self.config.later_iou_thresholds.iter();
        for (index, (&next, &threshold)) in head.later_stages.iter().zip(thresholds).enumerate() {
            let boxes = self.refined(samples.proposals, deltas, weights).await?;
            let matcher = Matcher::new(threshold, threshold);
            samples = TrainingSamples::matched(boxes, &truth, &matcher, next)?;
            let (losses, predicted) = self.stage_losses(index + 1, levels, &samples).await?;
            (weights, deltas) = (next, predicted);
            later.push(losses);
        }
        Ok((first, later))
    }

    /// The losses of a stage, and the box deltas that it predicts, which are constants to the next stage.
    async fn stage_losses(
        &self,
        stage: usize,
        levels: &[Tensor<4>],
        samples: &TrainingSamples,
    ) -> Result<(BoxLosses, Tensor<2>), DetectionError> {
        let config = self.detector.config();
        let mut pooled = self.pool(Head::Box, levels, samples)?;
        let later = config.box_head.later_stages.len();
        if later > 0 {
            pooled = with_scaled_gradient(pooled, 1.0 / (1 + later) as f64);
        }
        let (logits, deltas) = self.detector.heads().boxes_of_stage(stage, pooled);
        let (logits, deltas) = (logits.cast(self.dtype()), deltas.cast(self.dtype()));
        let predicted = deltas.clone().inner();
        let (logits, deltas) = background_first(config.background, logits, deltas);
        let beta = self.config.smooth_l1_beta;
        let losses = box_head_losses(logits, deltas, &samples.labels, &samples.regression_targets, beta);
        let (classifier, boxes) = losses.await?;
        Ok((BoxLosses { classifier, boxes }, predicted))
    }

    /// The boxes that a stage refines, clipped to their images, without those that are empty then.
    async fn refined(
        &self,
        boxes: Vec<Tensor<2>>,
        deltas: Tensor<2>,
        weights: [f64; 4],
    ) -> Result<Vec<Tensor<2>>, DetectionError> {
        let mut refined = refined_boxes(deltas, boxes, weights, &self.batch.images.image_sizes)?;
        for boxes in &mut refined {
            let corners = host::read_boxes(boxes).await?;
            let is_empty = |&row: &usize| {
                let [x1, y1, x2, y2] = corners[row];
                !(x1 < x2 && y1 < y2)
            };
            let rows: Vec<usize> = (0..corners.len()).filter(|row| !is_empty(row)).collect();
            if rows.len() < corners.len() {
                *boxes = host::select_rows(boxes, &rows);
            }
        }
        Ok(refined)
    }
}

/// The same values, if they are finite, whose gradient is multiplied by `scale`.
fn with_scaled_gradient(values: Tensor<4>, scale: f64) -> Tensor<4> {
    let scaled = values.clone() * scale;
    let zeros = scaled.clone() - scaled.detach();
    values.detach() + zeros
}
