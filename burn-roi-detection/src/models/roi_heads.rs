//! The heads on pooled regions: classes and box deltas, masks, and keypoints.

use burn::module::Module;
use burn::nn::LinearConfig;
use burn::nn::pool::{AdaptiveAvgPool2d, AdaptiveAvgPool2dConfig};
use burn::tensor::{Device, Tensor};

use super::body::{Bottleneck, apply, layer};
use super::config::DetectorConfig;
use crate::{
    FastRcnnConvFcHead, FastRcnnConvFcHeadConfig, FastRcnnPredictor, KeypointRcnnHeads, KeypointRcnnHeadsConfig,
    KeypointRcnnPredictor, KeypointRcnnPredictorConfig, MaskRcnnHeads, MaskRcnnHeadsConfig, MaskRcnnPredictor,
    MaskRcnnPredictorConfig,
};

/// The heads on pooled regions, as a module to train. The fields have the names of torchvision's weights.
///
/// [`Detector::heads`](super::Detector::heads) returns a detector's heads, and
/// [`Detector::try_with_heads`](super::Detector::try_with_heads) replaces them.
#[derive(Module, Debug)]
pub struct RoiHeads {
    /// The backbone's last layer, if it runs on pooled regions; otherwise empty.
    pub(crate) layer4: Vec<Bottleneck>,
    /// The mean of each channel, if there is no linear layer.
    mean: Option<AdaptiveAvgPool2d>,
    /// The box head; without convolutions it is torchvision's `TwoMLPHead`.
    pub box_head: FastRcnnConvFcHead,
    /// The layers that predict classes and box deltas.
    pub box_predictor: FastRcnnPredictor,
    /// The box heads of a cascade after the first.
    pub(crate) later_stages: Vec<BoxStage>,
    /// The convolutions of the mask head.
    pub mask_head: Option<MaskRcnnHeads>,
    /// The layers that predict a mask for each class.
    pub mask_predictor: Option<MaskRcnnPredictor>,
    /// The convolutions of the keypoint head.
    pub keypoint_head: Option<KeypointRcnnHeads>,
    /// The layer that predicts a heatmap for each keypoint.
    pub keypoint_predictor: Option<KeypointRcnnPredictor>,
}

impl RoiHeads {
    /// Heads with Burn's initial weights, for a config that [`DetectorConfig::check`] accepts.
    pub(crate) fn new(config: &DetectorConfig, device: &Device) -> Self {
        let boxes = &config.box_head;
        let BoxStage {
            box_head,
            box_predictor,
        } = BoxStage::new(config, device);
        let later_stages = boxes.later_stages.iter().map(|_| BoxStage::new(config, device));
        let is_mean = boxes.fully_connected.is_empty();
        let (mask_head, mask_predictor) = mask_layers(config, device).unzip();
        let (keypoint_head, keypoint_predictor) = keypoint_layers(config, device).unzip();
        Self {
            layer4: config
                .layer_on_regions()
                .map_or_else(Vec::new, |body| layer(body, 3, device)),
            mean: is_mean.then(|| AdaptiveAvgPool2dConfig::new([1, 1]).init()),
            box_head,
            box_predictor,
            later_stages: later_stages.collect(),
            mask_head,
            mask_predictor,
            keypoint_head,
            keypoint_predictor,
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

    /// As [`boxes`](Self::boxes), of a stage of a cascade, counted from 0. The first stage is the only one of other
    /// detectors.
    #[cfg(feature = "train")]
    pub(crate) fn boxes_of_stage(&self, stage: usize, pooled: Tensor<4>) -> (Tensor<2>, Tensor<2>) {
        match stage.checked_sub(1) {
            None => self.boxes(pooled),
            Some(later) => self.later_stages[later].forward(pooled),
        }
    }

    /// The mask logits of pooled regions, if there is a mask head.
    ///
    /// - `pooled`: `[K, channels, P, P]`, where P is the `pooled_size` of the mask head.
    /// - Returns `[K, masks, M, M]`, with a mask for each class that has box deltas, or one for all classes.
    pub fn masks(&self, pooled: Tensor<4>) -> Option<Tensor<4>> {
        let (head, predictor) = self.mask_head.as_ref().zip(self.mask_predictor.as_ref())?;
        let features = apply(&self.layer4, pooled);
        Some(predictor.forward(head.forward(features)))
    }

    /// The heatmaps of pooled regions, if there is a keypoint head.
    ///
    /// - `pooled`: `[K, channels, P, P]`, where P is the `pooled_size` of the keypoint head.
    /// - Returns `[K, keypoints, 4 P, 4 P]`.
    pub fn keypoints(&self, pooled: Tensor<4>) -> Option<Tensor<4>> {
        let (head, predictor) = self.keypoint_head.as_ref().zip(self.keypoint_predictor.as_ref())?;
        Some(predictor.forward(head.forward(pooled)))
    }
}

/// A box head of a cascade.
#[derive(Module, Debug)]
pub(crate) struct BoxStage {
    /// The convolutions and linear layers.
    pub box_head: FastRcnnConvFcHead,
    /// The layers that predict classes and box deltas.
    pub box_predictor: FastRcnnPredictor,
}

impl BoxStage {
    fn new(config: &DetectorConfig, device: &Device) -> Self {
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
            box_head: head.with_norm(boxes.norm).init(device),
            box_predictor: FastRcnnPredictor {
                cls_score: LinearConfig::new(features, config.classes.len()).init(device),
                bbox_pred: LinearConfig::new(features, 4 * regressed).init(device),
            },
        }
    }

    /// Class logits and box deltas of pooled regions `[K, channels, P, P]`, as of [`RoiHeads::boxes`].
    pub fn forward(&self, pooled: Tensor<4>) -> (Tensor<2>, Tensor<2>) {
        self.box_predictor.forward(self.box_head.forward(pooled))
    }
}

/// The layers that predict masks, if the config has a mask head.
fn mask_layers(config: &DetectorConfig, device: &Device) -> Option<(MaskRcnnHeads, MaskRcnnPredictor)> {
    let head = config.mask_head.as_ref()?;
    let (channels, _) = config.head_input(head.pooled_size);
    let masks = if head.class_agnostic { 1 } else { config.box_classes() };
    let features = head.convolutions.last().copied().unwrap_or(channels);
    let convolutions = MaskRcnnHeadsConfig::new(channels, head.convolutions.clone()).with_norm(head.norm);
    let predictor = MaskRcnnPredictorConfig::new(features, head.predictor_channels, masks);
    Some((convolutions.init(device), predictor.init(device)))
}

/// The layers that predict keypoints, if the config has a keypoint head.
fn keypoint_layers(config: &DetectorConfig, device: &Device) -> Option<(KeypointRcnnHeads, KeypointRcnnPredictor)> {
    let head = config.keypoint_head.as_ref()?;
    let channels = config.channels();
    let features = head.convolutions.last().copied().unwrap_or(channels);
    let convolutions = KeypointRcnnHeadsConfig::new(channels, head.convolutions.clone());
    let predictor = KeypointRcnnPredictorConfig::new(features, head.keypoints.len());
    Some((convolutions.init(device), predictor.init(device)))
}
