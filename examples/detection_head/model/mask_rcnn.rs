//! All layers that have weights.

use burn::module::Module;
use burn::tensor::Device;

use super::backbone::Backbone;
use super::region_proposals::RegionProposalNetwork;
use super::roi_heads::RoiHeads;
use crate::config::Config;

#[derive(Module, Debug)]
pub struct MaskRcnn {
    pub backbone: Backbone,
    pub rpn: RegionProposalNetwork,
    pub roi_heads: RoiHeads,
}

impl MaskRcnn {
    /// A model with random weights, for `weights::load` to replace.
    pub fn new(config: &Config, device: &Device) -> Self {
        Self {
            backbone: Backbone::new(config, device),
            rpn: RegionProposalNetwork::new(config, device),
            roi_heads: RoiHeads::new(config, device),
        }
    }
}
