//! P-Net: the proposal network, on whole pictures.

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::pool::MaxPool2d;
use burn::tensor::{Device, Tensor};

use super::{Block, pool};

/// Height and width of what an output pixel sees, in pixels of the input.
pub const CELL: usize = 12;
/// How far apart the cells of two output pixels lie.
pub const STRIDE: usize = 2;

/// Looks at every cell of 12 x 12 pixels, two pixels apart.
#[derive(Module, Debug)]
pub struct ProposalNetwork {
    block1: Block,
    pool: MaxPool2d,
    block2: Block,
    block3: Block,
    head: Conv2d,
}

impl ProposalNetwork {
    /// Four offsets of the cell's corners, and the logits of "no face" and "a face".
    pub const OUTPUTS: usize = 6;

    pub fn new(device: &Device) -> Self {
        Self {
            block1: Block::new([3, 10], 3, device),
            pool: pool(2),
            block2: Block::new([10, 16], 3, device),
            block3: Block::new([16, 32], 3, device),
            head: Conv2dConfig::new([32, Self::OUTPUTS], [1, 1]).init(device),
        }
    }

    /// Pictures `[N, 3, height, width]` to `[N, 6, rows, columns]`, with [`output_size`] rows and columns.
    pub fn forward(&self, pictures: Tensor<4>) -> Tensor<4> {
        let features = self.pool.forward(self.block1.forward(pictures));
        let features = self.block3.forward(self.block2.forward(features));
        self.head.forward(features)
    }
}

/// Rows or columns of the output for that height or width of the input; 0 if the input is too small for one.
pub fn output_size(input: usize) -> usize {
    // The first convolution takes 2 pixels, the pooling keeps the last odd one, and two convolutions take 2 each.
    input.saturating_sub(2).div_ceil(STRIDE).saturating_sub(4)
}
