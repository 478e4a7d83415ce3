//! The heads that draw masks.

use burn::config::Config;
use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig, ConvTranspose2d, ConvTranspose2dConfig};
use burn::tensor::{Device, Tensor, activation::relu};

use super::{ConvBlock, ConvBlockConfig};

/// Options of [`MaskRcnnHeads`].
#[derive(Config, Debug)]
pub struct MaskRcnnHeadsConfig {
    /// The number of channels of a pooled region.
    pub in_channels: usize,
    /// The number of channels that each convolution gives.
    pub layers: Vec<usize>,
    /// Whether batch normalization follows each convolution, as in torchvision's second version of
    /// Mask R-CNN.
    #[config(default = false)]
    pub normalized: bool,
}

impl MaskRcnnHeadsConfig {
    /// Creates the module, with Burn's initial weights.
    pub fn init(&self, device: &Device) -> MaskRcnnHeads {
        let mut channels = self.in_channels;
        let layers = self.layers.iter().map(|&out_channels| {
            let config = ConvBlockConfig::new(channels, out_channels, 3);
            channels = out_channels;
            config.with_normalized(self.normalized).init(device)
        });
        MaskRcnnHeads {
            layers: layers.collect(),
        }
    }
}

/// Convolutions of 3 x 3, each with a ReLU; torchvision's `MaskRCNNHeads` with dilation 1. Created by
/// [`MaskRcnnHeadsConfig::init`].
///
/// In a checkpoint of torchvision layer n is `n`; in the first version's files, `mask_fcn(n + 1)`, without the
/// `0` of the convolution.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::detection::{MaskRcnnHeadsConfig, MaskRcnnPredictorConfig};
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
    /// Pooled regions `[K, in_channels, M, M]` to `[K, channels of the last layer, M, M]`. No regions give none.
    ///
    /// # Panics
    ///
    /// Where `pooled` has another number of channels.
    pub fn forward(&self, pooled: Tensor<4>) -> Tensor<4> {
        self.layers.iter().fold(pooled, |maps, block| block.forward(maps))
    }
}

/// Options of [`MaskRcnnPredictor`].
#[derive(Config, Debug)]
pub struct MaskRcnnPredictorConfig {
    /// The number of channels of a region's features.
    pub in_channels: usize,
    /// The number of channels between the two layers.
    pub dim_reduced: usize,
    /// The number of classes, with the background, which is class 0.
    pub num_classes: usize,
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

/// For each class a mask of twice the size; torchvision's `MaskRCNNPredictor`. Created by
/// [`MaskRcnnPredictorConfig::init`]; [`MaskRcnnHeads`] has an example.
#[derive(Module, Debug)]
pub struct MaskRcnnPredictor {
    /// The layer that doubles the size.
    pub conv5_mask: ConvTranspose2d,
    /// The layer that gives classes.
    pub mask_fcn_logits: Conv2d,
}

impl MaskRcnnPredictor {
    /// Features `[K, in_channels, M, M]` to mask logits `[K, classes, 2 * M, 2 * M]`. No regions give none.
    ///
    /// # Panics
    ///
    /// Where `features` has another number of channels.
    pub fn forward(&self, features: Tensor<4>) -> Tensor<4> {
        let [count, _, height, width] = features.dims();
        if count == 0 {
            let [classes, ..] = self.mask_fcn_logits.weight.dims();
            let shape = [0, classes, 2 * height, 2 * width];
            return Tensor::zeros(shape, (&features.device(), features.dtype()));
        }
        let features = relu(self.conv5_mask.forward(features));
        self.mask_fcn_logits.forward(features)
    }
}
