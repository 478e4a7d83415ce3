//! R-Net: the refinement network, on crops of 24 x 24 pixels.

use burn::module::Module;
use burn::nn::pool::MaxPool2d;
use burn::nn::{Linear, LinearConfig, PRelu, PReluConfig};
use burn::tensor::{Device, Tensor};

use super::{Block, pool};

#[derive(Module, Debug)]
pub struct RefinementNetwork {
    block1: Block,
    block2: Block,
    block3: Block,
    pool: MaxPool2d,
    dense: Linear,
    activation: PRelu,
    head: Linear,
}

impl RefinementNetwork {
    /// Height and width of its input.
    pub const SIDE: usize = 24;

    pub fn new(device: &Device) -> Self {
        Self {
            block1: Block::new([3, 28], 3, device),
            block2: Block::new([28, 48], 3, device),
            block3: Block::new([48, 64], 2, device),
            pool: pool(3),
            dense: LinearConfig::new(64 * 3 * 3, 128).init(device),
            activation: PReluConfig::new().with_num_parameters(128).init(device),
            head: LinearConfig::new(128, 6).init(device),
        }
    }

    /// Crops `[K, 3, 24, 24]` to `[K, 6]`: four offsets of the box, and the logits of "no face" and "a face".
    pub fn forward(&self, crops: Tensor<4>) -> Tensor<2> {
        let features = self.pool.forward(self.block1.forward(crops));
        let features = self.pool.forward(self.block2.forward(features));
        let features: Tensor<2> = self.block3.forward(features).flatten(1, 3);
        self.head.forward(self.activation.forward(self.dense.forward(features)))
    }
}
