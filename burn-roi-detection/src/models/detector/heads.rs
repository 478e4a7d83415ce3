//! From proposals to instances: the stages of the heads.

use burn::tensor::{DType, Int, Tensor};

use super::Detector;
use super::cascade::Refined;
use crate::error::DetectionError;
use crate::models::class_order::background_first;
use crate::models::config::Background;
use crate::models::image_list::ImageList;
use crate::models::instances::{Instances, find_keypoints, keep_class_masks, paste_masks};
use crate::models::pooling::{Head, try_pool_regions};
use crate::models::stage::{Stage, Stages};
use crate::{DetectionConfig, Detections, host, postprocess_detections_async, try_maskrcnn_inference};

/// The images of a detection and their feature maps, which all heads read.
pub(super) struct HeadStages<'a> {
    pub detector: &'a Detector,
    /// On the heads' device.
    pub levels: &'a [Tensor<4>],
    pub images: &'a ImageList,
    pub stages: Stages<'a>,
}

impl HeadStages<'_> {
    /// The detections of each image, in pixels of the resized picture. The heads are not called without regions: not
    /// every backend accepts empty tensors.
    pub async fn detections(&mut self, proposals: Vec<Tensor<2>>) -> Result<Vec<Detections>, DetectionError> {
        let (detector, images) = (self.detector, self.images);
        let (config, device, dtype) = (&detector.config, &detector.device, self.dtype());
        if proposals.iter().all(|boxes| boxes.dims()[0] == 0) {
            let classes = config.classes.len();
            let [logits, deltas] = [classes, 4 * classes].map(|columns| Tensor::zeros([0, columns], device));
            return detector.postprocess(logits, deltas, proposals, images).await;
        }
        let pooled = self.pool(Head::Box, proposals.clone()).await?;
        let head = async {
            let (logits, deltas) = detector.model.roi_heads.boxes(pooled);
            Ok((
                logits.to_device(device).cast(dtype),
                deltas.to_device(device).cast(dtype),
            ))
        };
        let (logits, deltas) = self.stages.run(Stage::BoxHead, head).await?;
        let mut predicted = Refined {
            logits,
            deltas,
            boxes: proposals,
        };
        if !config.box_head.later_stages.is_empty() {
            let later = async { detector.refine(self.levels, predicted, images) };
            predicted = self.stages.run(Stage::LaterBoxHeads, later).await?;
        }
        let Refined { logits, deltas, boxes } = predicted;
        let (logits, deltas) = background_first(config.background, logits, deltas);
        let detections = detector.postprocess(logits, deltas, boxes, images);
        self.stages.run(Stage::Detections, detections).await
    }

    /// The dtype of everything but the layers.
    fn dtype(&self) -> DType {
        self.images.tensors.dtype()
    }

    /// Regions pooled for a head, on its device, as a stage.
    async fn pool(&mut self, head: Head, boxes: Vec<Tensor<2>>) -> Result<Tensor<4>, DetectionError> {
        let stage = match head {
            Head::Box => Stage::BoxPooling,
            Head::Mask => Stage::MaskPooling,
            Head::Keypoint => Stage::KeypointPooling,
        };
        let pooled = async { self.detector.pooled(head, self.levels, boxes, self.images) };
        self.stages.run(stage, pooled).await
    }

    /// Adds the masks of detections, at least one of them.
    pub async fn add_masks(
        &mut self,
        detections: &[Detections],
        instances: &mut [Instances],
    ) -> Result<(), DetectionError> {
        let Some(head) = &self.detector.config.mask_head else {
            return Ok(());
        };
        let pooled = self.pool(Head::Mask, boxes_of(detections)).await?;
        let labels = self.detector.labels(detections, head.class_agnostic);
        let dtype = self.dtype();
        let masks = async {
            let logits = self.detector.model.roi_heads.masks(pooled);
            let logits = logits.map(|logits| logits.cast(dtype));
            logits.map(|logits| try_maskrcnn_inference(logits, labels)).transpose()
        };
        let Some(masks) = self.stages.run(Stage::MaskHead, masks).await? else {
            return Ok(());
        };
        keep_class_masks(instances, &masks);
        match head.pasted {
            true => self.stages.run(Stage::Masks, paste_masks(instances, masks, head)).await,
            false => Ok(()),
        }
    }

    /// Adds the keypoints of detections, at least one of them.
    pub async fn add_keypoints(
        &mut self,
        detections: &[Detections],
        instances: &mut [Instances],
    ) -> Result<(), DetectionError> {
        let Some(head) = &self.detector.config.keypoint_head else {
            return Ok(());
        };
        let pooled = self.pool(Head::Keypoint, boxes_of(detections)).await?;
        let dtype = self.dtype();
        let heatmaps = async {
            let heatmaps = self.detector.model.roi_heads.keypoints(pooled);
            Ok(heatmaps.map(|heatmaps| heatmaps.cast(dtype)))
        };
        let Some(heatmaps) = self.stages.run(Stage::KeypointHead, heatmaps).await? else {
            return Ok(());
        };
        let boxes = host::concatenate(&boxes_of(detections)).to_device(&heatmaps.device());
        let found = find_keypoints(instances, heatmaps, boxes, &self.images.image_sizes, head.scores);
        self.stages.run(Stage::Keypoints, found).await
    }
}

impl Detector {
    /// The detections of class logits and box deltas whose class 0 is the background.
    async fn postprocess(
        &self,
        logits: Tensor<2>,
        deltas: Tensor<2>,
        proposals: Vec<Tensor<2>>,
        images: &ImageList,
    ) -> Result<Vec<Detections>, DetectionError> {
        let head = &self.config.box_head;
        let config = DetectionConfig {
            score_threshold: head.score_threshold,
            nms_threshold: head.nms_threshold,
            detections_per_image: head.detections_per_image,
            min_size: head.min_size,
            box_weights: head.later_stages.last().copied().unwrap_or(head.weights),
        };
        let mut detections =
            postprocess_detections_async(logits, deltas, proposals, &images.image_sizes, &config).await?;
        if self.config.background == Background::Last {
            for detections in detections.iter_mut().filter(|detections| !detections.is_empty()) {
                detections.labels = detections.labels.clone() - 1;
            }
        }
        Ok(detections)
    }

    /// Regions pooled for a head, on its device.
    pub(super) fn pooled(
        &self,
        head: Head,
        levels: &[Tensor<4>],
        boxes: Vec<Tensor<2>>,
        images: &ImageList,
    ) -> Result<Tensor<4>, DetectionError> {
        let boxes = boxes.into_iter().map(|boxes| boxes.to_device(&self.heads_device));
        try_pool_regions(levels, boxes.collect(), &images.image_sizes, &self.config, head)
    }

    /// The mask of each detection, as an index, on the device of the heads.
    fn labels(&self, detections: &[Detections], class_agnostic: bool) -> Tensor<1, Int> {
        let labels = detections.iter().filter(|detections| !detections.is_empty());
        let labels = Tensor::cat(labels.map(|detections| detections.labels.clone()).collect(), 0);
        let labels = labels.to_device(&self.heads_device);
        if class_agnostic { labels.zeros_like() } else { labels }
    }
}

fn boxes_of(detections: &[Detections]) -> Vec<Tensor<2>> {
    detections.iter().map(|detections| detections.boxes.clone()).collect()
}
