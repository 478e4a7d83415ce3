//! The three networks of MTCNN. The fields have the names of the tensors that `package/convert.py` writes.

mod output;
mod proposal;
mod refinement;

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::nn::{PRelu, PReluConfig};
use burn::tensor::{Device, Tensor};

pub use output::OutputNetwork;
pub use proposal::{CELL, ProposalNetwork, STRIDE, output_size};
pub use refinement::RefinementNetwork;

/// A proposal network, and two networks that look at its candidates again.
#[derive(Module, Debug)]
pub struct Mtcnn {
    pub proposal: ProposalNetwork,
    pub refinement: RefinementNetwork,
    pub output: OutputNetwork,
}

impl Mtcnn {
    pub fn new(device: &Device) -> Self {
        Self {
            proposal: ProposalNetwork::new(device),
            refinement: RefinementNetwork::new(device),
            output: OutputNetwork::new(device),
        }
    }
}

/// A convolution without padding, and PReLU with a slope for each channel.
#[derive(Module, Debug)]
struct Block {
    convolution: Conv2d,
    activation: PRelu,
}

impl Block {
    fn new([input, output]: [usize; 2], kernel: usize, device: &Device) -> Self {
        Self {
            convolution: Conv2dConfig::new([input, output], [kernel, kernel]).init(device),
            activation: PReluConfig::new().with_num_parameters(output).init(device),
        }
    }

    fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        self.activation.forward(self.convolution.forward(input))
    }
}

/// A maximum with stride 2. A last window that reaches beyond the input is kept, as by TensorFlow's padding "same";
/// all windows of its padding "valid" here end with their input.
fn pool(kernel: usize) -> MaxPool2d {
    MaxPool2dConfig::new([kernel, kernel])
        .with_strides([2, 2])
        .with_ceil_mode(true)
        .init()
}
