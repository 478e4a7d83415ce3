//! The bodies: networks that compute feature maps of a picture.

mod attention;
mod conv_norm;
mod mobilenet;
mod positions;
mod resnet;
mod vit;

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::config::BodyConfig;
use mobilenet::MobileNetV3;
use resnet::ResNet;
pub use resnet::{Bottleneck, apply, layer};
use vit::ViT;

/// The network that computes the feature maps. Created by [`Detector::new`](super::Detector::new).
// A detector has one body, so the larger variant costs nothing.
#[allow(clippy::large_enum_variant)]
#[derive(Module, Debug)]
pub enum Body {
    /// A ResNet or ResNeXt.
    ResNet(ResNet),
    /// A MobileNetV3.
    MobileNetV3(MobileNetV3),
    /// A vision transformer.
    ViT(ViT),
}

impl Body {
    /// A body with Burn's initial weights. The config was checked.
    pub(crate) fn new(config: &BodyConfig, device: &Device) -> Self {
        match config {
            BodyConfig::ResNet(config) => Self::ResNet(ResNet::new(config, device)),
            BodyConfig::MobileNetV3(config) => Self::MobileNetV3(MobileNetV3::new(config, device)),
            BodyConfig::ViT(config) => Self::ViT(ViT::new(config, device)),
        }
    }

    /// The feature maps of pictures.
    ///
    /// - `input`: `[N, 3, H, W]`, normalized and padded.
    /// - Returns a map `[N, channels, height, width]` for each output of the config, the finest first.
    pub fn forward(&self, input: Tensor<4>) -> Vec<Tensor<4>> {
        match self {
            Self::ResNet(body) => body.forward(input),
            Self::MobileNetV3(body) => body.forward(input),
            Self::ViT(body) => body.forward(input),
        }
    }

    /// Freezes the first stages: training neither changes their weights nor their norms.
    ///
    /// - `stages`: the number of stages. Of a ResNet the first is the stem, and a layer is each of the others. Of a
    ///   MobileNetV3 the first is the stem, each block is one, and so is the last convolution. Of a vision
    ///   transformer the first are the embeddings of patches and positions, and each block is one. More stages than
    ///   the body has are all.
    #[cfg(feature = "train")]
    pub fn with_frozen_stages(self, stages: usize) -> Self {
        match self {
            Self::ResNet(body) => Self::ResNet(body.with_frozen_stages(stages)),
            Self::MobileNetV3(body) => Self::MobileNetV3(body.with_frozen_stages(stages)),
            Self::ViT(body) => Self::ViT(body.with_frozen_stages(stages)),
        }
    }
}
