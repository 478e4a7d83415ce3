//! The bodies: networks that compute feature maps of a picture.

mod attention;
mod conv_norm;
mod custom;
mod erased;
mod mobilenet;
mod positions;
mod resnet;
mod vit;

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::config::BodyConfig;
use crate::arguments::option;
use crate::error::DetectionError;
use custom::Custom;
pub use custom::CustomBody;
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
    /// A module of the caller's.
    Custom(Custom),
}

impl Body {
    /// A body with Burn's initial weights. The config was checked.
    ///
    /// # Errors
    ///
    /// `RoiError::Option`: the body is not one of this crate.
    pub(crate) fn try_new(config: &BodyConfig, device: &Device) -> Result<Self, DetectionError> {
        match config {
            BodyConfig::ResNet(config) => Ok(Self::ResNet(ResNet::new(config, device))),
            BodyConfig::MobileNetV3(config) => Ok(Self::MobileNetV3(MobileNetV3::new(config, device))),
            BodyConfig::ViT(config) => Ok(Self::ViT(ViT::new(config, device))),
            BodyConfig::Custom(_) => {
                let expected = "a body of this crate; `Detector::try_from_body` takes one of your own";
                Err(option("body", "custom", expected))
            }
        }
    }

    /// A body of the caller's, for a config that was checked.
    ///
    /// # Errors
    ///
    /// Those of [`Detector::try_from_body`](super::Detector::try_from_body).
    pub(crate) fn try_custom(
        body: impl CustomBody,
        config: &BodyConfig,
        device: &Device,
    ) -> Result<Self, DetectionError> {
        match config {
            BodyConfig::Custom(config) => Ok(Self::Custom(Custom::try_new(body, config, device)?)),
            _ => Err(option("config.body", "a body of this crate", "`BodyConfig::Custom`")),
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
            Self::Custom(body) => body.forward(input),
        }
    }

    /// Freezes the first stages: training neither changes their weights nor their norms.
    ///
    /// - `stages`: the number of stages. Of a ResNet the first is the stem, and a layer is each of the others. Of a
    ///   MobileNetV3 the first is the stem, each block is one, and so is the last convolution. Of a vision
    ///   transformer the first are the embeddings of patches and positions, and each block is one. More stages than
    ///   the body has are all. A [`CustomBody`] says what its stages are.
    #[cfg(feature = "train")]
    pub fn with_frozen_stages(self, stages: usize) -> Self {
        match self {
            Self::ResNet(body) => Self::ResNet(body.with_frozen_stages(stages)),
            Self::MobileNetV3(body) => Self::MobileNetV3(body.with_frozen_stages(stages)),
            Self::ViT(body) => Self::ViT(body.with_frozen_stages(stages)),
            Self::Custom(body) => Self::Custom(body.with_frozen_stages(stages)),
        }
    }
}
