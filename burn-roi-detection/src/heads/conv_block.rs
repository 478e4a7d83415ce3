//! [`ConvBlock`]: a convolution, a norm and ReLU.

use burn::module::Module;
use burn::nn::PaddingConfig2d;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::tensor::{Device, Tensor, activation::relu};

use super::norm::{Norm, NormKind};
use crate::zeros::no_rows;
use burn_roi::config;

config! {
/// Options of [`ConvBlock`]; the defaults match torchvision's `Conv2dNormActivation`.
#[derive(Debug)]
pub struct ConvBlockConfig {
    /// The number of input channels.
    pub in_channels: usize,
    /// The number of output channels.
    pub out_channels: usize,
    /// The height and width of the kernel. The padding is `(kernel_size - 1) / 2`, so an odd size keeps the size of the
    /// feature map.
    pub kernel_size: usize,
    /// The norm after the convolution, which then has no bias.
    pub norm: Option<NormKind> = Some(NormKind::Batch),
    /// Whether a ReLU follows.
    pub activation: bool = true,
    /// The number that the norm adds to the variance. Above 0.
    pub epsilon: f64 = 1e-5,
}
}

impl ConvBlockConfig {
    /// Creates the module, with Burn's initial weights.
    ///
    /// # Panics
    ///
    /// If `in_channels`, `out_channels` or `kernel_size` is 0, or if there is a `norm` and `epsilon` is not above 0, or
    /// `out_channels` is not a multiple of its number of groups.
    pub fn init(&self, device: &Device) -> ConvBlock {
        let padding = self.kernel_size.saturating_sub(1) / 2;
        let channels = [self.in_channels, self.out_channels];
        ConvBlock {
            conv: Conv2dConfig::new(channels, [self.kernel_size, self.kernel_size])
                .with_padding(PaddingConfig2d::Explicit(padding, padding, padding, padding))
                .with_bias(self.norm.is_none())
                .init(device),
            norm: self.init_norm(device),
            padding,
            activation: self.activation,
        }
    }

    /// The norm, if there is one.
    pub(crate) fn init_norm(&self, device: &Device) -> Option<Norm> {
        self.norm.map(|kind| {
            assert!(self.epsilon > 0.0, "`epsilon` is {}, but must be above 0", self.epsilon);
            Norm::new(kind, self.out_channels, self.epsilon, device)
        })
    }

    /// The norm of a head or a pyramid. detectron2's layer normalization adds 1e-6 to the variance, and not 1e-5.
    pub(crate) fn with_norm_of(self, norm: Option<NormKind>) -> Self {
        let epsilon = match norm {
            Some(NormKind::Layer) => 1e-6,
            _ => self.epsilon,
        };
        self.with_norm(norm).with_epsilon(epsilon)
    }
}

/// A convolution with stride 1, then a norm and a ReLU, each if configured. Same semantics as torchvision's
/// `Conv2dNormActivation` in evaluation mode. Created by [`ConvBlockConfig::init`].
///
/// In a torchvision checkpoint, `0` is the convolution and `1` the norm.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::ConvBlockConfig;
///
/// let device = Device::default();
/// // A feature pyramid has blocks without activation.
/// let block = ConvBlockConfig::new(8, 4, 3).with_activation(false).init(&device);
/// let maps = Tensor::<4>::ones([1, 8, 5, 6], &device);
/// assert_eq!(block.forward(maps).dims(), [1, 4, 5, 6]);
/// ```
#[derive(Module, Debug)]
pub struct ConvBlock {
    /// The convolution; `0` in torchvision.
    pub conv: Conv2d,
    /// The norm; `1` in torchvision.
    pub norm: Option<Norm>,
    #[module(skip)]
    padding: usize,
    #[module(skip)]
    activation: bool,
}

impl ConvBlock {
    /// Applies the block.
    ///
    /// - `maps`: `[N, in_channels, H, W]`, in the float dtype of the weights. N may be 0.
    /// - Returns `[N, out_channels, H, W]` for an odd `kernel_size`; for an even one H and W are smaller by 1.
    ///
    /// # Panics
    ///
    /// If N is above 0 and `maps` has another number of channels than `in_channels`.
    pub fn forward(&self, maps: Tensor<4>) -> Tensor<4> {
        let [count, _, height, width] = maps.dims();
        if count == 0 {
            let [out_channels, _, kernel_height, kernel_width] = self.conv.weight.dims();
            let size = |size: usize, kernel: usize| (size + 2 * self.padding + 1).saturating_sub(kernel);
            let shape = [0, out_channels, size(height, kernel_height), size(width, kernel_width)];
            return no_rows(self, maps, shape);
        }
        let maps = convolve(&self.conv, maps);
        let maps = match &self.norm {
            Some(norm) => norm.forward(maps),
            None => maps,
        };
        if self.activation { relu(maps) } else { maps }
    }
}

/// A convolution. Where its weights get a gradient, one of single pixels is a matrix product: Flex takes a fifth of the
/// time for this gradient then.
pub(crate) fn convolve(conv: &Conv2d, maps: Tensor<4>) -> Tensor<4> {
    let weight = conv.weight.val();
    if !(weight.is_require_grad() && is_of_single_pixels(conv)) {
        return conv.forward(maps);
    }
    let ([count, _, height, width], [outputs, inputs, ..]) = (maps.dims(), weight.dims());
    let pixels = maps.reshape([count, inputs, height * width]);
    let maps = weight.reshape([1, outputs, inputs]).matmul(pixels);
    let maps = maps.reshape([count, outputs, height, width]);
    match &conv.bias {
        Some(bias) => maps + bias.val().reshape([1, outputs, 1, 1]),
        None => maps,
    }
}

/// Whether each output pixel is a sum over the channels of the input pixel in its place.
fn is_of_single_pixels(conv: &Conv2d) -> bool {
    let keeps_size = matches!(
        conv.padding,
        PaddingConfig2d::Valid | PaddingConfig2d::Explicit(0, 0, 0, 0)
    );
    conv.kernel_size == [1, 1] && conv.stride == [1, 1] && conv.groups == 1 && keeps_size
}
