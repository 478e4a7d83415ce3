//! A convolution with a norm: what bodies consist of.

use burn::module::Module;
use burn::nn::PaddingConfig2d;
use burn::nn::activation::{Activation, ActivationConfig};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::tensor::{Device, Tensor};

use crate::heads::conv_block::convolve;
use crate::heads::{Norm, NormKind};

/// A convolution without a bias, a norm and an activation: torchvision's `Conv2dNormActivation`.
#[derive(Module, Debug)]
pub struct ConvNorm {
    /// The convolution.
    pub conv: Conv2d,
    /// The norm, whose statistics do not change at inference.
    pub norm: Norm,
    activation: Option<Activation>,
}

/// What all norms of a body have in common.
#[derive(Clone, Copy)]
pub struct Norms {
    pub kind: NormKind,
    pub epsilon: f64,
    pub frozen: bool,
}

impl ConvNorm {
    pub(super) fn new(conv: Conv2dConfig, norms: Norms, activation: Option<ActivationConfig>, device: &Device) -> Self {
        Self {
            conv: conv.init(device),
            norm: norms.init(conv.channels[1], device),
            activation: activation.map(|activation| activation.init(device)),
        }
    }

    /// `[N, in_channels, H, W]` to `[N, out_channels, height, width]`.
    pub fn forward(&self, maps: Tensor<4>) -> Tensor<4> {
        let maps = self.norm.forward(convolve(&self.conv, maps));
        match &self.activation {
            Some(activation) => activation.forward(maps),
            None => maps,
        }
    }
}

/// A convolution without a bias, since the norm after it has one, that keeps the size of a map.
pub fn convolution(channels: [usize; 2], kernel_size: usize) -> Conv2dConfig {
    let padding = kernel_size / 2;
    Conv2dConfig::new(channels, [kernel_size; 2])
        .with_padding(PaddingConfig2d::Explicit(padding, padding, padding, padding))
        .with_bias(false)
}

impl Norms {
    pub fn init(self, channels: usize, device: &Device) -> Norm {
        let norm = Norm::new(self.kind, channels, self.epsilon, device);
        if self.frozen { norm.freeze() } else { norm }
    }
}
