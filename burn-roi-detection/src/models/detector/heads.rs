//! From proposals to instances: the stages of the heads.

use burn::tensor::{Int, Tensor};

use super::Detector;
use super::cascade::Refined;
use crate::error::DetectionError;
use crate::models::class_order::background_first;
use crate::models::config::Background;
use crate::models::image_list::ImageList;
use crate::models::instances::Instances;
use crate::models::pooling::{Head, try_pool_regions};
use crate::models::stage::{Stage, Stages};
use crate::{DetectionConfig, Detections, postprocess_detections_async, try_maskrcnn_inference};

impl Detector {
    /// The detections of each image, in pixels of the resized picture. The heads are not called without regions: not
    /// every backend accepts empty tensors.
    pub(super) async fn detections(
        &self,
        levels: &[Tensor<4>],
        proposals: Vec<Tensor<2>>,
        images: &ImageList,
        stages: &mut Stages<'_>,
    ) -> Result<Vec<Detections>, DetectionError> {
        if proposals.iter().all(|boxes| boxes.dims()[0] == 0) {
            let classes = self.config.classes.len();
            let [logits, deltas] = [classes, 4 * classes].map(|columns| Tensor::zeros([0, columns], &self.device));
            return self.postprocess(logits, deltas, proposals, images).await;
        }
        let pooled = self.pool(Head::Box, levels, proposals.clone(), images, stages).await?;
        let (logits, deltas) = stages
            .run(Stage::BoxHead, async {
                let (logits, deltas) = self.model.roi_heads.boxes(pooled);
                Ok((logits.to_device(&self.device), deltas.to_device(&self.device)))
            })
            .await?;
        let first = Refined {
            logits,
            deltas,
            boxes: proposals,
        };
        let Refined { logits, deltas, boxes } = match self.config.box_head.later_stages.is_empty() {
            true => first,
            false => {
                let refined = async { self.refine(levels, first, images) };
                stages.run(Stage::LaterBoxHeads, refined).await?
            }
        };
        let (logits, deltas) = match self.config.background {
            Background::First => (logits, deltas),
            Background::Last => background_first(logits, deltas),
        };
        let detections = self.postprocess(logits, deltas, boxes, images);
        stages.run(Stage::Detections, detections).await
    }

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

    /// Regions pooled for a head, on its device, as a stage.
    async fn pool(
        &self,
        head: Head,
        levels: &[Tensor<4>],
        boxes: impl IntoIterator<Item = Tensor<2>>,
        images: &ImageList,
        stages: &mut Stages<'_>,
    ) -> Result<Tensor<4>, DetectionError> {
        let stage = match head {
            Head::Box => Stage::BoxPooling,
            Head::Mask => Stage::MaskPooling,
            Head::Keypoint => Stage::KeypointPooling,
        };
        stages
            .run(stage, async { self.pooled(head, levels, boxes, images) })
            .await
    }

    /// Regions pooled for a head, on its device.
    pub(super) fn pooled(
        &self,
        head: Head,
        levels: &[Tensor<4>],
        boxes: impl IntoIterator<Item = Tensor<2>>,
        images: &ImageList,
    ) -> Result<Tensor<4>, DetectionError> {
        let boxes = boxes.into_iter().map(|boxes| boxes.to_device(&self.heads_device));
        try_pool_regions(levels, boxes.collect(), &images.image_sizes, &self.config, head)
    }

    /// Adds the masks of detections, at least one of them.
    pub(super) async fn add_masks(
        &self,
        levels: &[Tensor<4>],
        detections: &[Detections],
        images: &ImageList,
        instances: &mut [Instances],
        stages: &mut Stages<'_>,
    ) -> Result<(), DetectionError> {
        let Some(head) = &self.config.mask_head else {
            return Ok(());
        };
        let boxes = detections.iter().map(|detections| detections.boxes.clone());
        let pooled = self.pool(Head::Mask, levels, boxes, images, stages).await?;
        let labels = self.labels(detections, head.class_agnostic);
        let masks = stages
            .run(Stage::MaskHead, async {
                let logits = self.model.roi_heads.masks(pooled);
                logits.map(|logits| try_maskrcnn_inference(logits, labels)).transpose()
            })
            .await?;
        let Some(masks) = masks else { return Ok(()) };
        stages
            .run(Stage::Masks, async {
                for (instances, masks) in instances.iter_mut().zip(of_images(masks, detections)) {
                    if let Some(masks) = masks {
                        instances.paste(masks, head).await?;
                    }
                }
                Ok(())
            })
            .await
    }

    /// The mask of each detection, as an index, on the device of the heads.
    fn labels(&self, detections: &[Detections], class_agnostic: bool) -> Tensor<1, Int> {
        let labels = detections.iter().filter(|detections| !detections.is_empty());
        let labels = Tensor::cat(labels.map(|detections| detections.labels.clone()).collect(), 0);
        let labels = labels.to_device(&self.heads_device);
        if class_agnostic { labels.zeros_like() } else { labels }
    }

    /// Adds the keypoints of detections, at least one of them.
    pub(super) async fn add_keypoints(
        &self,
        levels: &[Tensor<4>],
        detections: &[Detections],
        images: &ImageList,
        instances: &mut [Instances],
        stages: &mut Stages<'_>,
    ) -> Result<(), DetectionError> {
        let Some(head) = &self.config.keypoint_head else {
            return Ok(());
        };
        let boxes = detections.iter().map(|detections| detections.boxes.clone());
        let pooled = self.pool(Head::Keypoint, levels, boxes, images, stages).await?;
        let heatmaps = stages
            .run(Stage::KeypointHead, async {
                Ok(self.model.roi_heads.keypoints(pooled))
            })
            .await?;
        let Some(heatmaps) = heatmaps else { return Ok(()) };
        let found = async {
            for (image, heatmaps) in of_images(heatmaps, detections).into_iter().enumerate() {
                let Some(heatmaps) = heatmaps else { continue };
                let boxes = detections[image].boxes.clone().to_device(&heatmaps.device());
                let resized = images.image_sizes[image];
                instances[image]
                    .find_keypoints(heatmaps, boxes, resized, head.scores)
                    .await?;
            }
            Ok(())
        };
        stages.run(Stage::Keypoints, found).await
    }
}

/// The rows of each image that has detections.
fn of_images(rows: Tensor<4>, detections: &[Detections]) -> Vec<Option<Tensor<4>>> {
    let mut end = 0;
    let of_image = |detections: &Detections| {
        let start = end;
        end += detections.len();
        (start < end).then(|| rows.clone().slice_dim(0, start..end))
    };
    detections.iter().map(of_image).collect()
}
