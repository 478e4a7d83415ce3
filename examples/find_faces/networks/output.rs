//! O-Net: the output network, on crops of 48 x 48 pixels.

use burn::module::Module;
use burn::nn::pool::MaxPool2d;
use burn::nn::{Linear, LinearConfig, PRelu, PReluConfig};
use burn::tensor::{Device, Tensor};

use super::{Block, pool};

#[derive(Module, Debug)]
pub struct OutputNetwork {
    block1: Block,
    block2: Block,
    block3: Block,
    block4: Block,
    pool: MaxPool2d,
    last_pool: MaxPool2d,
    dense: Linear,
    activation: PRelu,
    head: Linear,
}

impl OutputNetwork {
    /// Height and width of its input.
    pub const SIDE: usize = 48;

    pub fn new(device: &Device) -> Self {
        Self {
            block1: Block::new([3, 32], 3, device),
            block2: Block::new([32, 64], 3, device),
            block3: Block::new([64, 64], 3, device),
            block4: Block::new([64, 128], 2, device),
            pool: pool(3),
            last_pool: pool(2),
            dense: LinearConfig::new(128 * 3 * 3, 256).init(device),
            activation: PReluConfig::new().with_num_parameters(256).init(device),
            head: LinearConfig::new(256, 16).init(device),
        }
    }

    /// Crops `[K, 3, 48, 48]` to `[K, 16]`: four offsets of the box, x of five landmarks, their y, and the logits of
    /// "no face" and "a face".
    pub fn forward(&self, crops: Tensor<4>) -> Tensor<2> {
        let features = self.pool.forward(self.block1.forward(crops));
        let features = self.pool.forward(self.block2.forward(features));
        let features = self.last_pool.forward(self.block3.forward(features));
        let features: Tensor<2> = self.block4.forward(features).flatten(1, 3);
        self.head.forward(self.activation.forward(self.dense.forward(features)))
    }
}
