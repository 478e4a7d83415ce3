//! All layers that have weights.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::body::Body;
use super::config::DetectorConfig;
use super::feature_pyramid::FeaturePyramid;
use super::region_proposals::RegionProposalNetwork;
use super::roi_heads::RoiHeads;

/// The layers of a two-stage detector: torchvision's `GeneralizedRCNN`. The fields have the names of torchvision's
/// weights, by which a [`NameTable`](crate::weights::NameTable) finds them.
#[derive(Module, Debug)]
pub struct GeneralizedRcnn {
    /// What computes the feature maps.
    pub backbone: Backbone,
    /// The region proposal network.
    pub rpn: RegionProposalNetwork,
    /// The heads on pooled regions.
    pub roi_heads: RoiHeads,
}

/// The backbone and the feature pyramid on its maps.
#[derive(Module, Debug)]
pub struct Backbone {
    /// The backbone.
    pub body: Body,
    /// The feature pyramid.
    pub fpn: Option<FeaturePyramid>,
}

impl GeneralizedRcnn {
    /// Layers with Burn's initial weights after a body, for a config that [`DetectorConfig::check`] accepts.
    pub fn new(config: &DetectorConfig, body: Body, device: &Device) -> Self {
        let pyramid = config.feature_pyramid.as_ref();
        Self {
            backbone: Backbone {
                body,
                fpn: pyramid.map(|pyramid| FeaturePyramid::new(pyramid, &config.map_channels(), device)),
            },
            rpn: RegionProposalNetwork::new(config, device),
            roi_heads: RoiHeads::new(config, device),
        }
    }
}

impl Backbone {
    /// What the region proposal network reads, the finest level first: the levels of the pyramid, or without one the
    /// body's last map.
    ///
    /// - `maps`: the maps of [`Body::forward`].
    /// - Returns levels `[N, channels, height, width]`.
    pub fn levels(&self, mut maps: Vec<Tensor<4>>) -> Vec<Tensor<4>> {
        match &self.fpn {
            Some(pyramid) => pyramid.forward(maps),
            None => maps.split_off(maps.len().saturating_sub(1)),
        }
    }
}
