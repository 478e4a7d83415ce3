//! [`ConvBlock`]: a convolution, its normalization and its activation.

use burn::config::Config;
use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, PaddingConfig2d};
use burn::tensor::{Device, Tensor, activation::relu};

/// Options of [`ConvBlock`]; the defaults are those of torchvision's `Conv2dNormActivation`.
#[derive(Config, Debug)]
pub struct ConvBlockConfig {
    /// The number of channels that come in.
    pub in_channels: usize,
    /// The number of channels that go out.
    pub out_channels: usize,
    /// The height and the width of the kernel. An odd one keeps the size of the map.
    pub kernel_size: usize,
    /// Whether batch normalization follows the convolution, which then has no bias.
    #[config(default = true)]
    pub normalized: bool,
    /// Whether a ReLU comes last.
    #[config(default = true)]
    pub activation: bool,
    /// What the normalization adds to the variance, above 0.
    #[config(default = 1e-5)]
    pub epsilon: f64,
}

impl ConvBlockConfig {
    /// Creates the module, with Burn's initial weights.
    ///
    /// # Panics
    ///
    /// Where there are 0 channels, the kernel's size is 0, or the epsilon of a normalization is not above 0.
    pub fn init(&self, device: &Device) -> ConvBlock {
        let padding = self.kernel_size.saturating_sub(1) / 2;
        let channels = [self.in_channels, self.out_channels];
        let norm = BatchNormConfig::new(self.out_channels).with_epsilon(self.epsilon);
        ConvBlock {
            conv: Conv2dConfig::new(channels, [self.kernel_size, self.kernel_size])
                .with_padding(PaddingConfig2d::Explicit(padding, padding, padding, padding))
                .with_bias(!self.normalized)
                .init(device),
            norm: self.normalized.then(|| norm.init(device)),
            padding,
            activation: self.activation,
        }
    }
}

/// A convolution with stride 1, batch normalization and a ReLU, the last two where the options ask for them;
/// torchvision's `Conv2dNormActivation`. Created by [`ConvBlockConfig::init`].
///
/// In a checkpoint of torchvision `0` is the convolution and `1` the normalization.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::detection::ConvBlockConfig;
///
/// let device = Device::default();
/// // What a feature pyramid has: no activation.
/// let block = ConvBlockConfig::new(8, 4, 3).with_activation(false).init(&device);
/// let maps = Tensor::<4>::ones([1, 8, 5, 6], &device);
/// assert_eq!(block.forward(maps).dims(), [1, 4, 5, 6]);
/// ```
#[derive(Module, Debug)]
pub struct ConvBlock {
    /// The convolution; `0` in torchvision.
    pub conv: Conv2d,
    /// The normalization; `1` in torchvision.
    pub norm: Option<BatchNorm>,
    #[module(skip)]
    padding: usize,
    #[module(skip)]
    activation: bool,
}

impl ConvBlock {
    /// `[N, in_channels, H, W]` to `[N, out_channels, H, W]`, where the kernel's size is odd. No maps, N = 0,
    /// give none.
    ///
    /// # Panics
    ///
    /// Where `maps` has another number of channels.
    pub fn forward(&self, maps: Tensor<4>) -> Tensor<4> {
        let [count, _, height, width] = maps.dims();
        if count == 0 {
            let [out_channels, _, kernel_height, kernel_width] = self.conv.weight.dims();
            let size = |size: usize, kernel: usize| (size + 2 * self.padding + 1).saturating_sub(kernel);
            let shape = [0, out_channels, size(height, kernel_height), size(width, kernel_width)];
            return Tensor::zeros(shape, (&maps.device(), maps.dtype()));
        }
        let maps = self.conv.forward(maps);
        let maps = match &self.norm {
            Some(norm) => norm.forward(maps),
            None => maps,
        };
        if self.activation { relu(maps) } else { maps }
    }
}
