//! Calls of what assigns targets for training.

use burn::tensor::{Device, Int, Tensor};
use burn_roi_detection::DetectionError;
use burn_roi_detection::*;

use super::bytes::{Bytes, Floats, Ints, Kind, int_tensors, tensors};
use super::{Call, all_finite, ensure, swapped};

/// Targets of proposals and anchors, and training samples.
#[derive(Debug)]
pub struct Targets {
    proposals: Vec<Floats>,
    gt_boxes: Vec<Floats>,
    gt_labels: Vec<Ints>,
    thresholds: (f64, f64),
    low_quality: bool,
    batch_size: usize,
}

impl Targets {
    pub fn read(bytes: &mut Bytes) -> Self {
        let dtype = bytes.dtype();
        let images = bytes.int(1..=2);
        let (lists, of_labels) = (bytes.length(images), bytes.length(images));
        let counts: Vec<_> = (0..images + 1).map(|_| (bytes.int(0..=5), bytes.int(0..=3))).collect();
        let mut boxes = |list: usize, kind: Kind| {
            let (proposals, objects) = counts[list.min(images)];
            let count = if matches!(kind, Kind::Boxes) {
                proposals
            } else {
                objects
            };
            let shape = [count, bytes.length(4)];
            bytes.floats(&shape, dtype, kind)
        };
        let proposals = (0..images).map(|list| boxes(list, Kind::Boxes)).collect();
        let gt_boxes = (0..lists).map(|list| boxes(list, Kind::GroundTruth)).collect();
        let gt_labels = (0..of_labels)
            .map(|list| bytes.ints(counts[list.min(images)].1, 1..=3))
            .collect();
        let mut thresholds = bytes.choose(&[(0.5, 0.5), (0.7, 0.3), (1.0, 0.0)]);
        if bytes.rarely() {
            bytes.wrong = true;
            thresholds = bytes.choose(&[(0.3, 0.7), (f64::NAN, 0.5), (0.5, f64::NAN), (f64::INFINITY, 0.0)]);
        }
        Self {
            proposals,
            gt_boxes,
            gt_labels,
            thresholds,
            low_quality: bytes.bool(),
            batch_size: bytes.option(&[512.0, 1.0, 3.0], &[0.0]) as usize,
        }
    }

    fn call(&self, device: &Device) -> Result<Result<(), String>, DetectionError> {
        let (high, low) = self.thresholds;
        let matcher = Matcher::new(high, low).with_allow_low_quality_matches(self.low_quality);
        let proposals = tensors::<2>(&self.proposals, device);
        let (gt_boxes, gt_labels) = (tensors(&self.gt_boxes, device), int_tensors(&self.gt_labels, device));
        let (rows, _) = try_assign_targets_to_proposals(&proposals, &gt_boxes, &gt_labels, &matcher)?;
        let (labels, matched) = try_assign_targets_to_anchors(&proposals[0], &gt_boxes, &matcher)?;
        let config = TrainingSamplesConfig {
            fg_iou_threshold: high,
            bg_iou_threshold: low,
            batch_size_per_image: self.batch_size,
            ..TrainingSamplesConfig::new()
        };
        let permutation = &mut random_permutations(0);
        let samples = try_select_training_samples(&proposals, &gt_boxes, &gt_labels, &config, permutation)?;
        let positive = samples.try_positive()?;

        let check = || {
            let ints = |tensor: &Tensor<1, Int>| -> Vec<i64> { tensor.to_data().iter::<i64>().collect() };
            for (image, gt_boxes) in self.gt_boxes.iter().enumerate() {
                let objects = gt_boxes.shape[0].max(1) as i64;
                let rows = ints(&rows[image]);
                ensure(rows.iter().all(|row| (0..objects).contains(row)), || {
                    format!("matches {rows:?}")
                })?;
                let labels = ints(&labels[image]);
                ensure(labels.iter().all(|label| (-1..=1).contains(label)), || {
                    format!("labels {labels:?}")
                })?;
                ensure(all_finite(&matched[image]) || !gt_boxes.is_finite(), || {
                    "matched boxes".to_string()
                })?;
                let drawn = ints(&samples.labels[image]);
                ensure(drawn.len() <= self.batch_size, || format!("{} samples", drawn.len()))?;
                let positive = ints(&positive.labels[image]);
                ensure(positive.iter().all(|&label| label > 0), || {
                    format!("positive {positive:?}")
                })?;
                ensure(
                    drawn.iter().filter(|&&label| label > 0).count() == positive.len(),
                    || format!("positive {positive:?} of {drawn:?}"),
                )?;
            }
            Ok(())
        };
        Ok(check())
    }
}

impl Call for Targets {
    fn run(&self, device: &Device, _faultless: bool) -> Result<Result<(), DetectionError>, String> {
        swapped(self.call(device))
    }

    fn floats(&self) -> Vec<&Floats> {
        self.proposals.iter().chain(&self.gt_boxes).collect()
    }
}
