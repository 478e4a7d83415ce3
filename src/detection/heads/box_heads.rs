//! The heads that classify regions and refine their boxes.

use burn::config::Config;
use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor, activation::relu};

use super::{ConvBlock, ConvBlockConfig};

/// Options of [`TwoMlpHead`].
#[derive(Config, Debug)]
pub struct TwoMlpHeadConfig {
    /// The number of features of a pooled region: channels times height times width.
    pub in_channels: usize,
    /// The number of features that both layers give.
    pub representation_size: usize,
}

impl TwoMlpHeadConfig {
    /// Creates the module, with Burn's initial weights.
    pub fn init(&self, device: &Device) -> TwoMlpHead {
        let size = self.representation_size;
        TwoMlpHead {
            fc6: LinearConfig::new(self.in_channels, size).init(device),
            fc7: LinearConfig::new(size, size).init(device),
        }
    }
}

/// Two linear layers, each with a ReLU; torchvision's `TwoMLPHead`. Created by [`TwoMlpHeadConfig::init`].
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::detection::{FastRcnnPredictorConfig, TwoMlpHeadConfig};
///
/// let device = Device::default();
/// let head = TwoMlpHeadConfig::new(8 * 7 * 7, 16).init(&device);
/// let predictor = FastRcnnPredictorConfig::new(16, 5).init(&device);
///
/// let pooled = Tensor::<4>::ones([3, 8, 7, 7], &device);
/// let (class_logits, box_regression) = predictor.forward(head.forward(pooled));
/// assert_eq!(class_logits.dims(), [3, 5]);
/// assert_eq!(box_regression.dims(), [3, 4 * 5]);
/// ```
#[derive(Module, Debug)]
pub struct TwoMlpHead {
    /// The first layer.
    pub fc6: Linear,
    /// The second layer.
    pub fc7: Linear,
}

impl TwoMlpHead {
    /// Pooled regions `[K, C, P, Q]` to `[K, representation_size]`. No regions give none.
    ///
    /// # Panics
    ///
    /// Where C * P * Q is not the configured number of features.
    pub fn forward(&self, pooled: Tensor<4>) -> Tensor<2> {
        let features = flatten(pooled);
        let features = relu(linear(&self.fc6, features));
        relu(linear(&self.fc7, features))
    }
}

/// Options of [`FastRcnnConvFcHead`].
#[derive(Config, Debug)]
pub struct FastRcnnConvFcHeadConfig {
    /// The number of channels of a pooled region.
    pub in_channels: usize,
    /// Its height and width.
    pub pooled_size: [usize; 2],
    /// The number of channels that each convolution gives.
    pub conv_layers: Vec<usize>,
    /// The number of features that each linear layer gives.
    pub fc_layers: Vec<usize>,
    /// Whether batch normalization follows each convolution, as in torchvision's second version of the
    /// detectors.
    #[config(default = false)]
    pub normalized: bool,
}

impl FastRcnnConvFcHeadConfig {
    /// Creates the module, with Burn's initial weights.
    pub fn init(&self, device: &Device) -> FastRcnnConvFcHead {
        let mut channels = self.in_channels;
        let convs = self.conv_layers.iter().map(|&out_channels| {
            let config = ConvBlockConfig::new(channels, out_channels, 3);
            channels = out_channels;
            config.with_normalized(self.normalized).init(device)
        });
        let convs = convs.collect();

        let mut features = channels * self.pooled_size[0] * self.pooled_size[1];
        let fcs = self.fc_layers.iter().map(|&out_features| {
            let config = LinearConfig::new(features, out_features);
            features = out_features;
            config.init(device)
        });
        let fcs = fcs.collect();
        FastRcnnConvFcHead { convs, fcs }
    }
}

/// Convolutions of 3 x 3, then linear layers, each with a ReLU; torchvision's `FastRCNNConvFCHead`. Created by
/// [`FastRcnnConvFcHeadConfig::init`].
///
/// torchvision numbers the layers in one row: of 4 convolutions and 1 linear layer the convolutions are `0` to
/// `3`, `4` is the flattening and `5` the linear layer; every further linear layer is 2 after the last.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::detection::FastRcnnConvFcHeadConfig;
///
/// let device = Device::default();
/// let config = FastRcnnConvFcHeadConfig::new(8, [7, 7], vec![8; 4], vec![16]).with_normalized(true);
/// let pooled = Tensor::<4>::ones([3, 8, 7, 7], &device);
/// assert_eq!(config.init(&device).forward(pooled).dims(), [3, 16]);
/// ```
#[derive(Module, Debug)]
pub struct FastRcnnConvFcHead {
    /// The convolutions.
    pub convs: Vec<ConvBlock>,
    /// The linear layers.
    pub fcs: Vec<Linear>,
}

impl FastRcnnConvFcHead {
    /// Pooled regions `[K, C, P, Q]` to `[K, features of the last layer]`. No regions give none.
    ///
    /// # Panics
    ///
    /// Where C, P or Q are not as configured.
    pub fn forward(&self, pooled: Tensor<4>) -> Tensor<2> {
        let pooled = self.convs.iter().fold(pooled, |maps, block| block.forward(maps));
        self.fcs
            .iter()
            .fold(flatten(pooled), |features, layer| relu(linear(layer, features)))
    }
}

/// Options of [`FastRcnnPredictor`].
#[derive(Config, Debug)]
pub struct FastRcnnPredictorConfig {
    /// The number of features of a region.
    pub in_channels: usize,
    /// The number of classes, with the background, which is class 0.
    pub num_classes: usize,
}

impl FastRcnnPredictorConfig {
    /// Creates the module, with Burn's initial weights.
    pub fn init(&self, device: &Device) -> FastRcnnPredictor {
        let (features, classes) = (self.in_channels, self.num_classes);
        FastRcnnPredictor {
            cls_score: LinearConfig::new(features, classes).init(device),
            bbox_pred: LinearConfig::new(features, 4 * classes).init(device),
        }
    }
}

/// The classes of regions and, for each class, a box; torchvision's `FastRCNNPredictor`. Created by
/// [`FastRcnnPredictorConfig::init`]; [`TwoMlpHead`] has an example.
#[derive(Module, Debug)]
pub struct FastRcnnPredictor {
    /// The layer that gives classes.
    pub cls_score: Linear,
    /// The layer that gives boxes.
    pub bbox_pred: Linear,
}

impl FastRcnnPredictor {
    /// Features `[K, in_channels]` to class logits `[K, classes]` and to the codes of boxes
    /// `[K, 4 * classes]`, which [`BoxCoder::decode`](crate::detection::BoxCoder::decode) takes. No regions
    /// give none.
    ///
    /// # Panics
    ///
    /// Where `features` has another number of features.
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
        let shape = [0, channels * height * width];
        return Tensor::zeros(shape, (&pooled.device(), pooled.dtype()));
    }
    pooled.reshape([count, channels * height * width])
}

/// A linear layer; not every backend multiplies matrices without rows.
fn linear(layer: &Linear, features: Tensor<2>) -> Tensor<2> {
    if features.dims()[0] > 0 {
        return layer.forward(features);
    }
    let [_, out_features] = layer.weight.dims();
    Tensor::zeros([0, out_features], (&features.device(), features.dtype()))
}
