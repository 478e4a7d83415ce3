//! The region proposal network: an objectness score and box deltas for each anchor.

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::tensor::{Device, Tensor};
use burn_roi_detection::{ConvBlock, ConvBlockConfig};

use crate::config::Config;

#[derive(Module, Debug)]
pub struct RegionProposalNetwork {
    pub head: RegionProposalHead,
}

#[derive(Module, Debug)]
pub struct RegionProposalHead {
    conv: Vec<ConvBlock>,
    cls_logits: Conv2d,
    bbox_pred: Conv2d,
}

/// The head's output for the levels of the feature pyramid.
pub struct RegionPredictions {
    /// `[1, anchors, height, width]` for each level.
    pub objectness: Vec<Tensor<4>>,
    /// `[1, 4 anchors, height, width]` for each level.
    pub deltas: Vec<Tensor<4>>,
}

impl RegionProposalNetwork {
    pub fn new(config: &Config, device: &Device) -> Self {
        let channels = config.feature_pyramid.channels;
        let proposals = &config.region_proposals;
        let anchors = proposals.anchor_sizes[0].len() * proposals.aspect_ratios.len();
        let convolution = || {
            ConvBlockConfig::new(channels, channels, 3)
                .with_normalized(false)
                .init(device)
        };
        Self {
            head: RegionProposalHead {
                conv: (0..proposals.convolutions).map(|_| convolution()).collect(),
                cls_logits: Conv2dConfig::new([channels, anchors], [1, 1]).init(device),
                bbox_pred: Conv2dConfig::new([channels, 4 * anchors], [1, 1]).init(device),
            },
        }
    }
}

impl RegionProposalHead {
    pub fn forward(&self, levels: &[Tensor<4>]) -> RegionPredictions {
        let (objectness, deltas) = levels
            .iter()
            .map(|level| {
                let level = self
                    .conv
                    .iter()
                    .fold(level.clone(), |level, block| block.forward(level));
                (self.cls_logits.forward(level.clone()), self.bbox_pred.forward(level))
            })
            .unzip();
        RegionPredictions { objectness, deltas }
    }
}
