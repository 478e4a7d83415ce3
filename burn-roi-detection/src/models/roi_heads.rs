//! The heads on pooled regions: classes and box deltas, masks, and keypoints.

use burn::module::Module;
use burn::nn::LinearConfig;
use burn::nn::pool::{AdaptiveAvgPool2d, AdaptiveAvgPool2dConfig};
use burn::tensor::{Device, Tensor};

use super::body::{Bottleneck, apply, layer};
use super::config::{DetectorConfig, KeypointHeadConfig, MaskHeadConfig};
use crate::{
    FastRcnnConvFcHead, FastRcnnConvFcHeadConfig, FastRcnnPredictor, KeypointRcnnHeads, KeypointRcnnHeadsConfig,
    KeypointRcnnPredictor, KeypointRcnnPredictorConfig, MaskRcnnHeads, MaskRcnnHeadsConfig, MaskRcnnPredictor,
    MaskRcnnPredictorConfig,
};

/// The heads on pooled regions. The fields have the names of torchvision's weights.
#[derive(Module, Debug)]
pub struct RoiHeads {
    /// The body's last layer, if it runs on pooled regions; otherwise empty.
    pub layer4: Vec<Bottleneck>,
    /// The mean of each channel, if there is no linear layer.
    mean: Option<AdaptiveAvgPool2d>,
    /// The box head; without convolutions it is torchvision's `TwoMLPHead`.
    pub box_head: FastRcnnConvFcHead,
    /// The layers that predict classes and box deltas.
    pub box_predictor: FastRcnnPredictor,
    /// The layers that predict masks.
    pub mask: Option<MaskBranch>,
    /// The layers that predict keypoints.
    pub keypoint: Option<KeypointBranch>,
}

/// The layers that predict masks.
#[derive(Module, Debug)]
pub struct MaskBranch {
    /// The convolutions.
    pub mask_head: MaskRcnnHeads,
    /// The layers that predict a mask for each class.
    pub mask_predictor: MaskRcnnPredictor,
}

/// The layers that predict keypoints.
#[derive(Module, Debug)]
pub struct KeypointBranch {
    /// The convolutions.
    pub keypoint_head: KeypointRcnnHeads,
    /// The layer that predicts a heatmap for each keypoint.
    pub keypoint_predictor: KeypointRcnnPredictor,
}

impl RoiHeads {
    /// Heads with Burn's initial weights, for a config that [`DetectorConfig::check`] accepts.
    pub fn new(config: &DetectorConfig, device: &Device) -> Self {
        let boxes = &config.box_head;
        let (channels, size) = config.head_input(boxes.pooled_size);
        let is_mean = boxes.fully_connected.is_empty();
        let size = if is_mean { 1 } else { size };
        let head = FastRcnnConvFcHeadConfig::new(
            channels,
            [size; 2],
            boxes.convolutions.clone(),
            boxes.fully_connected.clone(),
        );
        let last = boxes.fully_connected.last().or(boxes.convolutions.last()).copied();
        let features = last.unwrap_or(channels);
        let regressed = if boxes.class_agnostic_regression {
            1
        } else {
            config.box_classes()
        };
        Self {
            layer4: config
                .layer_on_regions()
                .map_or_else(Vec::new, |body| layer(body, 3, device)),
            mean: is_mean.then(|| AdaptiveAvgPool2dConfig::new([1, 1]).init()),
            box_head: head.with_normalized(boxes.normalized).init(device),
            box_predictor: FastRcnnPredictor {
                cls_score: LinearConfig::new(features, config.classes.len()).init(device),
                bbox_pred: LinearConfig::new(features, 4 * regressed).init(device),
            },
            mask: config
                .mask_head
                .as_ref()
                .map(|head| MaskBranch::new(head, config, device)),
            keypoint: config
                .keypoint_head
                .as_ref()
                .map(|head| KeypointBranch::new(head, config, device)),
        }
    }

    /// Class logits and box deltas of pooled regions.
    ///
    /// - `pooled`: `[K, channels, P, P]`, where P is the `pooled_size` of the box head.
    /// - Returns the logits, `[K, classes]`, and the deltas, `[K, 4 * classes]`: of all classes, or all but the
    ///   background if it is the last one, or `[K, 4]` if the regression is class-agnostic.
    pub fn boxes(&self, pooled: Tensor<4>) -> (Tensor<2>, Tensor<2>) {
        let mut features = apply(&self.layer4, pooled);
        if let Some(mean) = &self.mean {
            features = mean.forward(features);
        }
        self.box_predictor.forward(self.box_head.forward(features))
    }

    /// The mask logits of pooled regions, if there is a mask head.
    ///
    /// - `pooled`: `[K, channels, P, P]`, where P is the `pooled_size` of the mask head.
    /// - Returns `[K, masks, M, M]`, with a mask for each class that has box deltas, or one for all classes.
    pub fn masks(&self, pooled: Tensor<4>) -> Option<Tensor<4>> {
        let mask = self.mask.as_ref()?;
        let features = apply(&self.layer4, pooled);
        Some(mask.mask_predictor.forward(mask.mask_head.forward(features)))
    }

    /// The heatmaps of pooled regions, if there is a keypoint head.
    ///
    /// - `pooled`: `[K, channels, P, P]`, where P is the `pooled_size` of the keypoint head.
    /// - Returns `[K, keypoints, 4 P, 4 P]`.
    pub fn keypoints(&self, pooled: Tensor<4>) -> Option<Tensor<4>> {
        let keypoint = self.keypoint.as_ref()?;
        Some(
            keypoint
                .keypoint_predictor
                .forward(keypoint.keypoint_head.forward(pooled)),
        )
    }
}

impl MaskBranch {
    fn new(head: &MaskHeadConfig, config: &DetectorConfig, device: &Device) -> Self {
        let (channels, _) = config.head_input(head.pooled_size);
        let masks = if head.class_agnostic { 1 } else { config.box_classes() };
        let features = head.convolutions.last().copied().unwrap_or(channels);
        Self {
            mask_head: MaskRcnnHeadsConfig::new(channels, head.convolutions.clone())
                .with_normalized(head.normalized)
                .init(device),
            mask_predictor: MaskRcnnPredictorConfig::new(features, head.predictor_channels, masks).init(device),
        }
    }
}

impl KeypointBranch {
    fn new(head: &KeypointHeadConfig, config: &DetectorConfig, device: &Device) -> Self {
        let channels = config.channels();
        let features = head.convolutions.last().copied().unwrap_or(channels);
        Self {
            keypoint_head: KeypointRcnnHeadsConfig::new(channels, head.convolutions.clone()).init(device),
            keypoint_predictor: KeypointRcnnPredictorConfig::new(features, head.keypoints.len()).init(device),
        }
    }
}
