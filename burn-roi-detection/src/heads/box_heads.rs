//! The heads that classify regions and predict their box deltas.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor, activation::relu};

use super::conv_block::ConvBlock;
use super::mask_heads::MaskRcnnHeadsConfig;
use super::norm::NormKind;
use crate::zeros::no_rows;
use burn_roi::config;

config! {
/// Options of [`FastRcnnConvFcHead`].
#[derive(Debug)]
pub struct FastRcnnConvFcHeadConfig {
    /// The number of channels of a pooled region.
    pub in_channels: usize,
    /// The height and width of a pooled region.
    pub pooled_size: [usize; 2],
    /// The number of output channels of each convolution.
    pub conv_layers: Vec<usize>,
    /// The number of output features of each linear layer.
    pub fc_layers: Vec<usize>,
    /// The norm after each convolution: batch normalization in torchvision's `_v2` detectors.
    pub norm: Option<NormKind> = None,
}
}

impl FastRcnnConvFcHeadConfig {
    /// Creates the module, with Burn's initial weights.
    pub fn init(&self, device: &Device) -> FastRcnnConvFcHead {
        // They are those of a mask head.
        let convs = MaskRcnnHeadsConfig::new(self.in_channels, self.conv_layers.clone())
            .with_norm(self.norm)
            .init(device);
        let channels = self.conv_layers.last().unwrap_or(&self.in_channels);
        let mut features = channels * self.pooled_size[0] * self.pooled_size[1];
        let fcs = self.fc_layers.iter().map(|&out_features| {
            let config = LinearConfig::new(features, out_features);
            features = out_features;
            config.init(device)
        });
        let fcs = fcs.collect();
        FastRcnnConvFcHead {
            convs: convs.layers,
            fcs,
        }
    }
}

/// 3 x 3 convolutions, then linear layers, each with a ReLU. Same semantics as torchvision's `FastRCNNConvFCHead`.
/// Created by [`FastRcnnConvFcHeadConfig::init`].
///
/// Without convolutions and with two linear layers it is torchvision's `TwoMLPHead`, in whose checkpoints the linear
/// layers are `fc6` and `fc7`. Otherwise the modules of a torchvision checkpoint are numbered in the order of their
/// use. With 4 convolutions, these are `0` to `3`, `4` flattens, the first linear layer is `5`, its ReLU is `6`, and
/// the second linear layer is `7`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::{FastRcnnConvFcHeadConfig, FastRcnnPredictorConfig, NormKind};
///
/// let device = Device::default();
/// let head = FastRcnnConvFcHeadConfig::new(8, [7, 7], vec![8; 4], vec![16]).with_norm(Some(NormKind::Batch));
/// let (head, predictor) = (head.init(&device), FastRcnnPredictorConfig::new(16, 5).init(&device));
///
/// let pooled = Tensor::<4>::ones([3, 8, 7, 7], &device);
/// let (class_logits, box_regression) = predictor.forward(head.forward(pooled));
/// assert_eq!(class_logits.dims(), [3, 5]);
/// assert_eq!(box_regression.dims(), [3, 4 * 5]);
/// ```
#[derive(Module, Debug)]
pub struct FastRcnnConvFcHead {
    /// The convolutions.
    pub convs: Vec<ConvBlock>,
    /// The linear layers.
    pub fcs: Vec<Linear>,
}

impl FastRcnnConvFcHead {
    /// The features of pooled regions.
    ///
    /// - `pooled`: `[K, C, P, Q]`, where C is `in_channels` and `[P, Q]` is `pooled_size`, in the float dtype of the
    ///   weights. K may be 0.
    /// - Returns `[K, F]`, where F is the last of `fc_layers`.
    ///
    /// # Panics
    ///
    /// If K is above 0 and C, P or Q differs from the configuration.
    pub fn forward(&self, pooled: Tensor<4>) -> Tensor<2> {
        let pooled = self.convs.iter().fold(pooled, |maps, block| block.forward(maps));
        self.fcs
            .iter()
            .fold(flatten(pooled), |features, layer| relu(linear(layer, features)))
    }
}

config! {
/// Options of [`FastRcnnPredictor`].
#[derive(Debug)]
pub struct FastRcnnPredictorConfig {
    /// The number of input features of a region.
    pub in_channels: usize,
    /// The number of classes. This includes the background, which is class 0.
    pub num_classes: usize,
    /// Whether all classes of a region have the same box deltas, as with detectron2's `CLS_AGNOSTIC_BBOX_REG` and
    /// mmdetection's `reg_class_agnostic`. torchvision has no such option.
    pub class_agnostic_regression: bool = false,
}
}

impl FastRcnnPredictorConfig {
    /// Creates the module, with Burn's initial weights.
    pub fn init(&self, device: &Device) -> FastRcnnPredictor {
        let (features, classes) = (self.in_channels, self.num_classes);
        let boxes = if self.class_agnostic_regression { 1 } else { classes };
        FastRcnnPredictor {
            cls_score: LinearConfig::new(features, classes).init(device),
            bbox_pred: LinearConfig::new(features, 4 * boxes).init(device),
        }
    }
}

/// Two linear layers that predict class logits and box deltas. Same semantics as torchvision's `FastRCNNPredictor`.
/// Created by [`FastRcnnPredictorConfig::init`]; [`FastRcnnConvFcHead`] has an example.
#[derive(Module, Debug)]
pub struct FastRcnnPredictor {
    /// The layer that predicts class logits; `cls_score` in torchvision.
    pub cls_score: Linear,
    /// The layer that predicts box deltas; `bbox_pred` in torchvision.
    pub bbox_pred: Linear,
}

impl FastRcnnPredictor {
    /// The class logits and the box deltas of regions.
    ///
    /// - `features`: `[K, in_channels]`, in the float dtype of the weights. K may be 0.
    /// - Returns the class logits, `[K, num_classes]`, and the box deltas, `[K, 4 * num_classes]`, or `[K, 4]` with
    ///   `class_agnostic_regression`. They are what [`BoxCoder::decode`](crate::BoxCoder::decode) takes.
    ///
    /// # Panics
    ///
    /// If K is above 0 and `features` does not have `in_channels` columns.
    pub fn forward(&self, features: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        (
            linear(&self.cls_score, features.clone()),
            linear(&self.bbox_pred, features),
        )
    }
}

/// `[K, C, P, Q]` to `[K, C * P * Q]`.
fn flatten(pooled: Tensor<4>) -> Tensor<2> {
    let [count, channels, height, width] = pooled.dims();
    if count == 0 {
        return no_rows(&None::<Linear>, pooled, [0, channels * height * width]);
    }
    pooled.reshape([count, channels * height * width])
}

/// Applies a linear layer.
fn linear(layer: &Linear, features: Tensor<2>) -> Tensor<2> {
    if features.dims()[0] > 0 {
        return layer.forward(features);
    }
    let [_, out_features] = layer.weight.dims();
    no_rows(layer, features, [0, out_features])
}
