//! [`detector_losses`]: the losses of a whole detector.

use std::iter::once;
use std::sync::LazyLock;

use burn::tensor::{DType, Int, Tensor};

use super::batch::{GroundTruth, TrainingBatch};
use super::loss_config::DetectorLossConfig;
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use crate::losses::region_losses;
use crate::models::{AnchorPredictions, Background, Detector, Head, try_pool_regions};
use crate::zeros::zero;
use crate::{
    BoxCoder, TrainingSamples, TrainingSamplesConfig, arguments, assign_targets_to_anchors_async,
    keypointrcnn_loss_async, maskrcnn_loss_async, select_training_samples_async,
};

/// The names of the losses of the stages of a cascade. They outlive each detector; a config has at most 129 stages.
static NAMES_OF_STAGES: LazyLock<Vec<[String; 2]>> = LazyLock::new(|| {
    (0..=128)
        .map(|stage| ["cls", "box_reg"].map(|loss| format!("loss_{loss}_stage{stage}")))
        .collect()
});

/// The losses of a stage of a cascade, each `[1]`.
#[derive(Debug, Clone)]
pub struct BoxLosses {
    /// The classification loss.
    pub classifier: Tensor<1>,
    /// The box loss.
    pub boxes: Tensor<1>,
}

/// The losses of a detector for a batch, each `[1]`.
#[derive(Debug, Clone)]
pub struct DetectorLosses {
    /// The objectness loss of the region proposal network: torchvision's `loss_objectness`.
    pub objectness: Tensor<1>,
    /// The box loss of the region proposal network: `loss_rpn_box_reg`.
    pub rpn_box: Tensor<1>,
    /// The classification loss of the box head: `loss_classifier`. In a cascade, that of the first stage:
    /// `loss_cls_stage0`.
    pub classifier: Tensor<1>,
    /// The box loss of the box head: `loss_box_reg`. In a cascade, that of the first stage: `loss_box_reg_stage0`.
    pub boxes: Tensor<1>,
    /// The losses of the later stages of a cascade, in order: `loss_cls_stage1`, `loss_box_reg_stage1` and so on.
    pub later_stages: Vec<BoxLosses>,
    /// The loss of the mask head, if there is one: `loss_mask`.
    pub masks: Option<Tensor<1>>,
    /// The loss of the keypoint head, if there is one: `loss_keypoint`.
    pub keypoints: Option<Tensor<1>>,
}

impl DetectorLosses {
    /// Each loss under torchvision's name. The losses of the box heads of a cascade have detectron2's names.
    pub fn named(&self) -> Vec<(&'static str, &Tensor<1>)> {
        let mut losses = vec![
            ("loss_objectness", &self.objectness),
            ("loss_rpn_box_reg", &self.rpn_box),
        ];
        if self.later_stages.is_empty() {
            losses.extend([("loss_classifier", &self.classifier), ("loss_box_reg", &self.boxes)]);
        } else {
            let later = self.later_stages.iter().map(|stage| (&stage.classifier, &stage.boxes));
            let stages = once((&self.classifier, &self.boxes)).chain(later);
            for ([cls, box_reg], (classifier, boxes)) in NAMES_OF_STAGES.iter().zip(stages) {
                losses.extend([(cls.as_str(), classifier), (box_reg.as_str(), boxes)]);
            }
        }
        losses.extend(self.masks.iter().map(|loss| ("loss_mask", loss)));
        losses.extend(self.keypoints.iter().map(|loss| ("loss_keypoint", loss)));
        losses
    }

    /// The sum of all losses.
    pub fn total(&self) -> Tensor<1> {
        let losses = self.named().into_iter().map(|(_, loss)| loss.clone());
        losses
            .reduce(Tensor::add)
            .expect("there are losses of anchors and boxes")
    }
}

blocking_forms!(
    /// The losses of a detector for a batch. Same semantics as torchvision's detectors in training mode: the region
    /// proposal network and all heads learn together, and no gradient flows through the coordinates of proposals.
    ///
    /// The box heads of a cascade learn as in detectron2's `CascadeROIHeads`: each later stage learns from the boxes
    /// that the stage before refined, matched anew with its own IoU threshold, and the gradient of what each of S
    /// stages pools is divided by S. The heads of masks and keypoints learn from the samples of the first stage.
    ///
    /// - `detector`: the detector, on an autodiff device if the losses are differentiated. Its layers may be of f16 or
    ///   bf16 with batch normalization of f32. They then run in half precision; proposals and losses are computed in
    ///   f32.
    /// - `batch`: made for the config of `detector`, on its device with or without autodiff.
    /// - `permutation`: the random choice, as in
    ///   [`BalancedPositiveNegativeSampler::forward`](crate::BalancedPositiveNegativeSampler::forward): first of the
    ///   anchors of all images, then of the proposals of all images.
    /// - Returns the losses, in the dtype of the images. If no image has an object, the losses of boxes, masks and
    ///   keypoints are 0.
    pub async fn detector_losses(
        detector: &Detector,
        batch: &TrainingBatch,
        config: &DetectorLossConfig,
        permutation: &mut impl FnMut(usize) -> Vec<usize>,
    ) -> Result<DetectorLosses, DetectionError> {
        //! Async form of [`detector_losses`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - [`DetectionError::Length`]: `batch` does not have the objects of one picture for each image.
        //! - [`DetectionError::Length`]: `later_iou_thresholds` of `config` does not have a threshold for each later
        //!   stage of a cascade.
        //! - `RoiError::Option`: an option of `config` is out of its range, or the objects of `batch` have no masks or
        //!   keypoints although `detector` has a head for them.
        //! - All errors of the functions that this calls:
        //!   [`assign_targets_to_anchors_async`](crate::assign_targets_to_anchors_async),
        //!   [`rpn_loss_async`](crate::rpn_loss_async), [`filter_proposals_async`](crate::filter_proposals_async),
        //!   [`select_training_samples_async`], [`try_pool_regions`],
        //!   [`fastrcnn_loss_async`](crate::fastrcnn_loss_async), [`maskrcnn_loss_async`] and
        //!   [`keypointrcnn_loss_async`].

        let images = batch.images.image_sizes.len();
        arguments::length("truth", batch.truth.len(), images, "image of `batch`")?;
        config.check(detector.config().box_head.later_stages.len())?;
        let step = Step {
            detector,
            batch,
            config,
        };
        let levels = detector.feature_pyramid(detector.body(&batch.images));
        let predicted = detector.region_predictions(&levels);
        let predicted = AnchorPredictions::try_new(detector.anchors(), predicted, &batch.images)?;

        let mut proposing = detector.config().region_proposals.clone();
        proposing.pre_nms_top_n = config.pre_nms_top_n;
        proposing.post_nms_top_n = config.post_nms_top_n;
        let proposals = predicted.inner().proposals(&batch.images, &proposing).await?;

        let anchors = &predicted.anchors;
        let (labels, matched) =
            assign_targets_to_anchors_async(anchors, &step.boxes(), &config.anchor_matcher()).await?;
        let coder = BoxCoder::new(proposing.weights);
        let targets = matched
            .into_iter()
            .map(|boxes| coder.try_encode(boxes, anchors.clone()));
        let targets = targets.collect::<Result<Vec<_>, _>>()?;
        let sampler = config.anchor_sampler();
        let (objectness, rpn_box) = region_losses(
            predicted.objectness,
            predicted.deltas,
            &labels,
            &targets,
            &sampler,
            permutation,
            config.smooth_l1_beta,
        )
        .await?;

        let samples_config = TrainingSamplesConfig {
            box_weights: detector.config().box_head.weights,
            ..config.samples.clone()
        };
        let samples =
            select_training_samples_async(&proposals, &step.boxes(), &step.labels(), &samples_config, permutation)
                .await?;
        let (BoxLosses { classifier, boxes }, later_stages) = step.box_losses(&levels, &samples).await?;
        let positive = samples.positive_async().await?;
        Ok(DetectorLosses {
            objectness,
            rpn_box,
            classifier,
            boxes,
            later_stages,
            masks: step.mask_loss(&levels, &positive).await?,
            keypoints: step.keypoint_loss(&levels, &positive).await?,
        })
    }
);

/// The arguments of [`detector_losses`].
pub(super) struct Step<'a> {
    pub detector: &'a Detector,
    pub batch: &'a TrainingBatch,
    pub config: &'a DetectorLossConfig,
}

impl Step<'_> {
    /// The dtype of boxes and losses.
    pub fn dtype(&self) -> DType {
        self.batch.images.tensors.dtype()
    }

    pub fn boxes(&self) -> Vec<Tensor<2>> {
        self.batch.truth.iter().map(|truth| truth.boxes.clone()).collect()
    }

    pub fn labels(&self) -> Vec<Tensor<1, Int>> {
        self.batch.truth.iter().map(|truth| truth.labels.clone()).collect()
    }

    /// Pools samples for a head.
    pub fn pool(
        &self,
        head: Head,
        levels: &[Tensor<4>],
        samples: &TrainingSamples,
    ) -> Result<Tensor<4>, DetectionError> {
        let sizes = &self.batch.images.image_sizes;
        try_pool_regions(levels, samples.proposals.clone(), sizes, self.detector.config(), head)
    }

    /// A loss of 0 if there are no samples and the backbone's last layer, which runs on them, would get an empty
    /// tensor.
    pub fn without_samples(&self, levels: &[Tensor<4>], samples: &TrainingSamples) -> Option<Tensor<1>> {
        let is_empty = samples.proposals.iter().all(|boxes| boxes.dims()[0] == 0);
        let is_on_regions = !self.detector.heads().layer4.is_empty();
        (is_empty && is_on_regions).then(|| zero(levels[0].clone()).cast(self.dtype()))
    }

    async fn mask_loss(
        &self,
        levels: &[Tensor<4>],
        positive: &TrainingSamples,
    ) -> Result<Option<Tensor<1>>, DetectionError> {
        let Some(head) = &self.detector.config().mask_head else {
            return Ok(None);
        };
        if let Some(zero) = self.without_samples(levels, positive) {
            return Ok(Some(zero));
        }
        let gt_masks = self.targets("masks", |truth| truth.masks.clone())?;
        let pooled = self.pool(Head::Mask, levels, positive)?;
        let Some(logits) = self.detector.heads().masks(pooled) else {
            return Ok(None);
        };
        let logits = logits.cast(self.dtype());
        let mut labels = self.labels();
        if head.class_agnostic {
            labels = labels.into_iter().map(|labels| labels.ones_like()).collect();
        }
        // The loss counts classes from the background on.
        let has_background = self.detector.config().background == Background::First && !head.class_agnostic;
        let logits = if has_background {
            logits
        } else {
            with_background(logits)
        };
        let (proposals, matched_idxs) = (&positive.proposals, &positive.matched_idxs);
        let targets = &self.config.mask_targets;
        let loss = maskrcnn_loss_async(logits, proposals, &gt_masks, &labels, matched_idxs, targets);
        loss.await.map(Some)
    }

    async fn keypoint_loss(
        &self,
        levels: &[Tensor<4>],
        positive: &TrainingSamples,
    ) -> Result<Option<Tensor<1>>, DetectionError> {
        if self.detector.config().keypoint_head.is_none() {
            return Ok(None);
        }
        let gt_keypoints = self.targets("keypoints", |truth| truth.keypoints.clone())?;
        let pooled = self.pool(Head::Keypoint, levels, positive)?;
        let Some(logits) = self.detector.heads().keypoints(pooled) else {
            return Ok(None);
        };
        let logits = logits.cast(self.dtype());
        let loss = keypointrcnn_loss_async(logits, &positive.proposals, &gt_keypoints, &positive.matched_idxs);
        loss.await.map(Some)
    }

    /// What a head learns of the objects of each image.
    fn targets(
        &self,
        argument: &'static str,
        of_image: impl Fn(&GroundTruth) -> Option<Tensor<3>>,
    ) -> Result<Vec<Tensor<3>>, DetectionError> {
        let all: Option<Vec<_>> = self.batch.truth.iter().map(of_image).collect();
        all.ok_or_else(|| arguments::option(argument, "missing", "there, since the detector has a head for it"))
    }
}

/// Adds a mask of zeros before those of the classes.
fn with_background(logits: Tensor<4>) -> Tensor<4> {
    let [count, _, height, width] = logits.dims();
    if count == 0 {
        // Without proposals, no label is looked up.
        return logits;
    }
    let zeros = Tensor::zeros([count, 1, height, width], (&logits.device(), logits.dtype()));
    Tensor::cat(vec![zeros, logits], 1)
}
