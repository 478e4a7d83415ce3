//! The layers of a simple feature pyramid that make maps of other sizes of a body's map.

use burn::module::Module;
use burn::nn::conv::{ConvTranspose2d, ConvTranspose2dConfig};
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::tensor::activation::gelu;
use burn::tensor::{Device, Tensor};

use super::config::FeaturePyramidConfig;
use crate::ConvBlockConfig;
use crate::heads::Norm;

/// The layers of detectron2's `SimpleFeaturePyramid` before its convolutions.
#[derive(Module, Debug)]
pub struct Rescaling {
    /// The layers to 4 times the size: a transposed convolution, a norm and a GELU, and another one.
    first_double: ConvTranspose2d,
    norm: Option<Norm>,
    second_double: ConvTranspose2d,
    /// The layer to twice the size.
    double: ConvTranspose2d,
    half: MaxPool2d,
}

impl Rescaling {
    /// Layers with Burn's initial weights, for a map with this number of channels.
    pub fn new(config: &FeaturePyramidConfig, channels: usize, device: &Device) -> Self {
        let double = |channels: usize| {
            let double = ConvTranspose2dConfig::new([channels, channels / 2], [2, 2]);
            double.with_stride([2, 2]).init(device)
        };
        let norm = ConvBlockConfig::new(channels, channels / 2, 1);
        Self {
            first_double: double(channels),
            norm: norm.with_norm_of(config.norm).init_norm(device),
            second_double: double(channels / 2),
            double: double(channels),
            // A map of one pixel stays one.
            half: MaxPool2dConfig::new([2, 2]).with_ceil_mode(true).init(),
        }
    }

    /// The number of channels of each map that [`forward`](Self::forward) returns.
    pub fn channels(of_map: usize) -> [usize; 4] {
        [of_map / 2 / 2, of_map / 2, of_map, of_map]
    }

    /// The last map with 4, 2, 1 and 1/2 times its size.
    pub fn forward(&self, mut maps: Vec<Tensor<4>>) -> Vec<Tensor<4>> {
        let Some(map) = maps.pop() else {
            return maps;
        };
        let mut doubled = self.first_double.forward(map.clone());
        if let Some(norm) = &self.norm {
            doubled = norm.forward(doubled);
        }
        vec![
            self.second_double.forward(gelu(doubled)),
            self.double.forward(map.clone()),
            map.clone(),
            self.half.forward(map),
        ]
    }
}
