//! The configs of backbones: the networks that compute feature maps. In the code a backbone without its feature pyramid
//! is a `body`, as in torchvision.

use serde::{Deserialize, Serialize};

use super::vit::ViTConfig;
use crate::NormKind;
use crate::configs::configs;

/// The backbone: the network that computes the feature maps. In JSON the field `kind` is `"resnet"`, `"mobilenet_v3"`,
/// `"vit"` or `"custom"`, beside the fields of the config.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum BodyConfig {
    /// A ResNet or ResNeXt of bottleneck blocks.
    #[serde(rename = "resnet")]
    ResNet(ResNetConfig),
    /// A MobileNetV3 without its classifier.
    #[serde(rename = "mobilenet_v3")]
    MobileNetV3(MobileNetV3Config),
    /// A vision transformer without its classifier.
    #[serde(rename = "vit")]
    ViT(ViTConfig),
    /// A module of your own: [`Detector::try_from_body`](crate::models::Detector::try_from_body) takes it.
    #[serde(rename = "custom")]
    Custom(CustomBodyConfig),
}

configs! {
/// A ResNet of bottleneck blocks: a stem and four layers, whose outputs have 1/4, 1/8, 1/16 and 1/32 of the picture's
/// size.
///
/// ```
/// use burn_roi_detection::models::ResNetConfig;
///
/// // detectron2's X-101-32x8d: 32 groups of 8 channels in the first layer.
/// let config = ResNetConfig {
///     groups: 32,
///     output_channels: Some([256, 512, 1024, 2048]),
///     ..ResNetConfig::new(64, [256, 512, 1024, 2048], [3, 4, 23, 3])
/// };
/// ```
pub struct ResNetConfig {
    /// The number of output channels of the stem. At least 1.
    pub stem_channels: usize,
    /// The number of channels of the 3 x 3 convolutions of each layer: for a ResNeXt the number of groups times the
    /// width of a group. Each at least 1, and a multiple of `groups`.
    pub bottleneck_channels: [usize; 4],
    /// The number of blocks of each layer. Each at least 1.
    pub blocks: [usize; 4],
    /// The number that a norm adds to the variance. Finite, 0 or above.
    pub batch_norm_epsilon: f64 = 1e-5,
    /// Whether training freezes the norms: torchvision's `FrozenBatchNorm2d`, detectron2's `FrozenBN`. Inference does
    /// not depend on it.
    pub frozen_norms: bool = true,
    /// The norm after each convolution. The groups of group normalization divide all numbers of channels.
    pub norm: NormKind = NormKind::Batch,
    /// The number of output channels of each layer, each at least 1. `None`: 4 times `bottleneck_channels`.
    pub output_channels: Option<[usize; 4]> = None,
    /// The number of groups of the 3 x 3 convolutions. At least 1.
    pub groups: usize = 1,
    /// Whether the first 1 x 1 convolution of a block has the block's stride, as in the first ResNets and in
    /// detectron2's `STRIDE_IN_1X1`. Otherwise the 3 x 3 convolution has it, as in torchvision.
    pub stride_in_1x1: bool = false,
    /// The dilation of the 3 x 3 convolutions of the last layer, at least 1: detectron2's `RES5_DILATION`. If it is
    /// above 1, the layer has no stride, and its output has 1/16 of the picture's size.
    pub last_dilation: usize = 1,
    /// Whether the last layer runs on pooled regions instead of the picture: detectron2's `Res5ROIHeads` of its C4
    /// models. Only without a feature pyramid.
    pub last_layer_on_regions: bool = false,
}

/// A MobileNetV3: a stem, inverted residual blocks and a last 1 x 1 convolution, as in torchvision's `features`.
pub struct MobileNetV3Config {
    /// The number of output channels of the stem, a 3 x 3 convolution with stride 2. At least 1.
    pub stem_channels: usize,
    /// The blocks, at least one.
    pub blocks: Vec<InvertedResidualConfig>,
    /// The number of output channels of the last convolution. At least 1.
    pub last_channels: usize,
    /// The indices of the parts whose outputs are the feature maps, in increasing order: 0 is the stem, 1 the first
    /// block, and the last convolution comes after the last block.
    pub outputs: Vec<usize>,
    /// The number that a norm adds to the variance. Finite, 0 or above.
    pub batch_norm_epsilon: f64 = 1e-5,
    /// Whether training freezes the batch norms: torchvision's `FrozenBatchNorm2d`. Inference does not depend on it.
    pub frozen_norms: bool = true,
}

/// A block of a MobileNetV3: a 1 x 1 convolution that expands, a depthwise convolution, squeeze and excitation, and a
/// 1 x 1 convolution that projects.
pub struct InvertedResidualConfig {
    /// The height and width of the depthwise kernel. Odd.
    pub kernel_size: usize,
    /// The number of channels inside the block. If it is the number of input channels, there is no convolution that
    /// expands. At least 1.
    pub expanded_channels: usize,
    /// The number of output channels. At least 1.
    pub output_channels: usize,
    /// The number of channels between the two layers of squeeze and excitation, at least 1. `None`: no squeeze and
    /// excitation.
    pub squeeze_channels: Option<usize> = None,
    /// Whether activations are hard swish, and not ReLU.
    pub hard_swish: bool = true,
    /// The stride of the depthwise convolution, at least 1. With 1 and as many input as output channels, the input is
    /// added to the output.
    pub stride: usize = 1,
}

/// Which maps of a [`CustomBody`](crate::models::CustomBody) a detector reads.
pub struct CustomBodyConfig {
    /// The maps, the finest first. At least one. A feature pyramid has a level for each; without one, the region
    /// proposal network and the heads read the last.
    pub maps: Vec<BodyMap>,
}

/// A feature map that a [`CustomBody`](crate::models::CustomBody) computes.
pub struct BodyMap {
    /// The name that the body calls it by.
    pub name: String,
    /// The number of channels. At least 1.
    pub channels: usize,
}
}
