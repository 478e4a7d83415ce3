//! The heads that predict masks.

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig, ConvTranspose2d, ConvTranspose2dConfig};
use burn::tensor::{Device, Tensor, activation::relu};

use super::conv_block::{ConvBlock, ConvBlockConfig, convolve};
use super::norm::NormKind;
use crate::zeros::no_rows;
use burn_roi::config;

config! {
/// Options of [`MaskRcnnHeads`].
#[derive(Debug)]
pub struct MaskRcnnHeadsConfig {
    /// The number of channels of a pooled region.
    pub in_channels: usize,
    /// The number of output channels of each convolution.
    pub layers: Vec<usize>,
    /// The norm after each convolution: batch normalization in torchvision's `maskrcnn_resnet50_fpn_v2`.
    pub norm: Option<NormKind> = None,
}
}

impl MaskRcnnHeadsConfig {
    /// Creates the module, with Burn's initial weights.
    pub fn init(&self, device: &Device) -> MaskRcnnHeads {
        let mut channels = self.in_channels;
        let layers = self.layers.iter().map(|&out_channels| {
            let config = ConvBlockConfig::new(channels, out_channels, 3);
            channels = out_channels;
            config.with_norm_of(self.norm).init(device)
        });
        let layers = layers.collect();
        MaskRcnnHeads { layers }
    }
}

/// 3 x 3 convolutions, each with a ReLU. Same semantics as torchvision's `MaskRCNNHeads` with dilation 1. Created by
/// [`MaskRcnnHeadsConfig::init`].
///
/// In a torchvision checkpoint, the convolution of layer n, counted from 0, is `n.0`. In the files of
/// `maskrcnn_resnet50_fpn` it is `mask_fcn1` for layer 0, `mask_fcn2` for layer 1, and so on.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::{MaskRcnnHeadsConfig, MaskRcnnPredictorConfig};
///
/// let device = Device::default();
/// let head = MaskRcnnHeadsConfig::new(8, vec![8; 4]).init(&device);
/// let predictor = MaskRcnnPredictorConfig::new(8, 8, 5).init(&device);
///
/// let pooled = Tensor::<4>::ones([3, 8, 14, 14], &device);
/// let mask_logits = predictor.forward(head.forward(pooled));
/// assert_eq!(mask_logits.dims(), [3, 5, 28, 28]);
/// ```
#[derive(Module, Debug)]
pub struct MaskRcnnHeads {
    /// The convolutions.
    pub layers: Vec<ConvBlock>,
}

impl MaskRcnnHeads {
    /// The features of pooled regions.
    ///
    /// - `pooled`: `[K, in_channels, M, M]`, in the float dtype of the weights. K may be 0.
    /// - Returns `[K, C, M, M]`, where C is the last of `layers`.
    ///
    /// # Panics
    ///
    /// If K is above 0 and `pooled` has another number of channels than `in_channels`.
    pub fn forward(&self, pooled: Tensor<4>) -> Tensor<4> {
        self.layers.iter().fold(pooled, |maps, block| block.forward(maps))
    }
}

config! {
/// Options of [`MaskRcnnPredictor`].
#[derive(Debug)]
pub struct MaskRcnnPredictorConfig {
    /// The number of input channels.
    pub in_channels: usize,
    /// The number of channels between the two convolutions.
    pub dim_reduced: usize,
    /// The number of classes. This includes the background, which is class 0.
    pub num_classes: usize,
}
}

impl MaskRcnnPredictorConfig {
    /// Creates the module, with Burn's initial weights.
    pub fn init(&self, device: &Device) -> MaskRcnnPredictor {
        let channels = [self.in_channels, self.dim_reduced];
        let classes = [self.dim_reduced, self.num_classes];
        MaskRcnnPredictor {
            conv5_mask: ConvTranspose2dConfig::new(channels, [2, 2])
                .with_stride([2, 2])
                .init(device),
            mask_fcn_logits: Conv2dConfig::new(classes, [1, 1]).init(device),
        }
    }
}

/// A transposed convolution, a ReLU and a 1 x 1 convolution that predict a mask of twice the size for each class. Same
/// semantics as torchvision's `MaskRCNNPredictor`. Created by [`MaskRcnnPredictorConfig::init`]; [`MaskRcnnHeads`] has
/// an example.
#[derive(Module, Debug)]
pub struct MaskRcnnPredictor {
    /// The transposed convolution, which doubles the size; `conv5_mask` in torchvision.
    pub conv5_mask: ConvTranspose2d,
    /// The 1 x 1 convolution, which has an output channel for each class; `mask_fcn_logits` in torchvision.
    pub mask_fcn_logits: Conv2d,
}

impl MaskRcnnPredictor {
    /// The mask logits of regions.
    ///
    /// - `features`: `[K, in_channels, M, M]`, in the float dtype of the weights. K may be 0.
    /// - Returns `[K, num_classes, 2 * M, 2 * M]`, which is what
    ///   [`maskrcnn_inference`](crate::maskrcnn_inference) takes.
    ///
    /// # Panics
    ///
    /// If K is above 0 and `features` has another number of channels than `in_channels`.
    pub fn forward(&self, features: Tensor<4>) -> Tensor<4> {
        let [count, _, height, width] = features.dims();
        if count == 0 {
            let [classes, ..] = self.mask_fcn_logits.weight.dims();
            let shape = [0, classes, 2 * height, 2 * width];
            return no_rows(self, features, shape);
        }
        let features = relu(self.conv5_mask.forward(features));
        convolve(&self.mask_fcn_logits, features)
    }
}
