//! The region proposal network: an objectness score and box deltas for each anchor.

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::tensor::{Device, Tensor};

use super::config::DetectorConfig;
use crate::heads::conv_block::convolve;
use crate::{ConvBlock, ConvBlockConfig};

/// The region proposal network. The fields have the names of torchvision's weights.
#[derive(Module, Debug)]
pub struct RegionProposalNetwork {
    /// Its layers.
    pub head: RegionProposalHead,
}

/// The layers of the region proposal network.
#[derive(Module, Debug)]
pub struct RegionProposalHead {
    /// 3 x 3 convolutions.
    pub conv: Vec<ConvBlock>,
    /// The 1 x 1 convolution that predicts objectness.
    pub cls_logits: Conv2d,
    /// The 1 x 1 convolution that predicts box deltas.
    pub bbox_pred: Conv2d,
}

/// What the region proposal network predicts for each level.
#[derive(Debug, Clone)]
pub struct RegionPredictions {
    /// For each level `[N, anchors, height, width]`: the logits of the anchors of a pixel.
    pub objectness: Vec<Tensor<4>>,
    /// For each level `[N, 4 * anchors, height, width]`: the box deltas of the anchors of a pixel.
    pub deltas: Vec<Tensor<4>>,
}

impl RegionProposalNetwork {
    /// A network with Burn's initial weights.
    pub(super) fn new(config: &DetectorConfig, device: &Device) -> Self {
        let channels = config.channels();
        let proposals = &config.region_proposals;
        let anchors = proposals.anchor_sizes[0].len() * proposals.aspect_ratios.len();
        let convolution = || ConvBlockConfig::new(channels, channels, 3).with_norm(None).init(device);
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
    /// Predicts objectness and box deltas from levels `[N, channels, height, width]`.
    pub fn forward(&self, levels: &[Tensor<4>]) -> RegionPredictions {
        let (objectness, deltas) = levels
            .iter()
            .map(|level| {
                let level = self
                    .conv
                    .iter()
                    .fold(level.clone(), |level, block| block.forward(level));
                (
                    convolve(&self.cls_logits, level.clone()),
                    convolve(&self.bbox_pred, level),
                )
            })
            .unzip();
        RegionPredictions { objectness, deltas }
    }
}
