//! The heads on pooled regions: classes and box deltas, then masks.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use burn_roi_detection::{
    FastRcnnConvFcHead, FastRcnnConvFcHeadConfig, FastRcnnPredictor, FastRcnnPredictorConfig, MaskRcnnHeads,
    MaskRcnnHeadsConfig, MaskRcnnPredictor, MaskRcnnPredictorConfig,
};

use crate::config::Config;

#[derive(Module, Debug)]
pub struct RoiHeads {
    /// Without convolutions it is torchvision's `TwoMLPHead`.
    pub box_head: FastRcnnConvFcHead,
    pub box_predictor: FastRcnnPredictor,
    pub mask_head: MaskRcnnHeads,
    pub mask_predictor: MaskRcnnPredictor,
}

impl RoiHeads {
    pub fn new(config: &Config, device: &Device) -> Self {
        let channels = config.feature_pyramid.channels;
        let classes = config.classes.len();
        let (boxes, masks) = (&config.box_head, &config.mask_head);
        let box_channels = boxes.fully_connected.last().copied().unwrap_or(channels);
        let mask_channels = masks.convolutions.last().copied().unwrap_or(channels);
        Self {
            box_head: FastRcnnConvFcHeadConfig::new(
                channels,
                [boxes.pooled_size; 2],
                boxes.convolutions.clone(),
                boxes.fully_connected.clone(),
            )
            .with_normalized(boxes.normalized)
            .init(device),
            box_predictor: FastRcnnPredictorConfig::new(box_channels, classes).init(device),
            mask_head: MaskRcnnHeadsConfig::new(channels, masks.convolutions.clone())
                .with_normalized(masks.normalized)
                .init(device),
            mask_predictor: MaskRcnnPredictorConfig::new(mask_channels, masks.predictor_channels, classes).init(device),
        }
    }

    /// Class logits `[K, classes]` and box deltas `[K, 4 classes]` of pooled regions.
    pub fn boxes(&self, pooled: Tensor<4>) -> (Tensor<2>, Tensor<2>) {
        self.box_predictor.forward(self.box_head.forward(pooled))
    }

    /// Mask logits `[K, classes, height, width]` of pooled regions.
    pub fn masks(&self, pooled: Tensor<4>) -> Tensor<4> {
        self.mask_predictor.forward(self.mask_head.forward(pooled))
    }
}
