//! The body: a ResNet of bottleneck blocks, whose four layers' outputs are all used.

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, PaddingConfig2d};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use super::feature_pyramid::FeaturePyramid;
use crate::config::{Body, Config};

/// The channels of a block's output, relative to the channels inside the block.
pub const EXPANSION: usize = 4;

#[derive(Module, Debug)]
pub struct Backbone {
    pub body: ResNet,
    pub fpn: FeaturePyramid,
}

impl Backbone {
    pub fn new(config: &Config, device: &Device) -> Self {
        Self {
            body: ResNet::new(&config.body, device),
            fpn: FeaturePyramid::new(config, device),
        }
    }
}

#[derive(Module, Debug)]
pub struct ResNet {
    conv1: Conv2d,
    bn1: BatchNorm,
    maxpool: MaxPool2d,
    layer1: Vec<Bottleneck>,
    layer2: Vec<Bottleneck>,
    layer3: Vec<Bottleneck>,
    layer4: Vec<Bottleneck>,
}

impl ResNet {
    fn new(config: &Body, device: &Device) -> Self {
        let layer = |index: usize| {
            let channels = config.bottleneck_channels[index];
            let input = match index {
                0 => config.stem_channels,
                _ => EXPANSION * config.bottleneck_channels[index - 1],
            };
            let first_stride = if index == 0 { 1 } else { 2 };
            let blocks = (0..config.blocks[index]).map(|block| {
                let (input, stride) = match block {
                    0 => (input, first_stride),
                    _ => (EXPANSION * channels, 1),
                };
                Bottleneck::new(input, channels, stride, config.batch_norm_epsilon, device)
            });
            blocks.collect()
        };
        Self {
            conv1: convolution([3, config.stem_channels], 7, 2, device),
            bn1: norm(config.stem_channels, config.batch_norm_epsilon, device),
            maxpool: MaxPool2dConfig::new([3, 3])
                .with_strides([2, 2])
                .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
                .init(),
            layer1: layer(0),
            layer2: layer(1),
            layer3: layer(2),
            layer4: layer(3),
        }
    }

    /// The outputs of the four layers, the largest first.
    pub fn forward(&self, input: Tensor<4>) -> Vec<Tensor<4>> {
        let stem = relu(self.bn1.forward(self.conv1.forward(input)));
        let mut features = self.maxpool.forward(stem);
        let mut outputs = Vec::new();
        for layer in [&self.layer1, &self.layer2, &self.layer3, &self.layer4] {
            for block in layer {
                features = block.forward(features);
            }
            outputs.push(features.clone());
        }
        outputs
    }
}

#[derive(Module, Debug)]
struct Bottleneck {
    conv1: Conv2d,
    bn1: BatchNorm,
    conv2: Conv2d,
    bn2: BatchNorm,
    conv3: Conv2d,
    bn3: BatchNorm,
    /// Present where input and output differ in size or channels.
    downsample: Option<Downsample>,
}

#[derive(Module, Debug)]
struct Downsample {
    conv: Conv2d,
    norm: BatchNorm,
}

impl Bottleneck {
    fn new(input: usize, channels: usize, stride: usize, epsilon: f64, device: &Device) -> Self {
        let output = EXPANSION * channels;
        let downsample = (stride != 1 || input != output).then(|| Downsample {
            conv: convolution([input, output], 1, stride, device),
            norm: norm(output, epsilon, device),
        });
        Self {
            conv1: convolution([input, channels], 1, 1, device),
            bn1: norm(channels, epsilon, device),
            // torchvision has the stride here, the ResNet paper in `conv1`.
            conv2: convolution([channels, channels], 3, stride, device),
            bn2: norm(channels, epsilon, device),
            conv3: convolution([channels, output], 1, 1, device),
            bn3: norm(output, epsilon, device),
            downsample,
        }
    }

    fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let inner = relu(self.bn1.forward(self.conv1.forward(input.clone())));
        let inner = relu(self.bn2.forward(self.conv2.forward(inner)));
        let inner = self.bn3.forward(self.conv3.forward(inner));
        let identity = match &self.downsample {
            Some(Downsample { conv, norm }) => norm.forward(conv.forward(input)),
            None => input,
        };
        relu(inner + identity)
    }
}

/// A convolution without a bias: the norm after it has one.
fn convolution(channels: [usize; 2], kernel: usize, stride: usize, device: &Device) -> Conv2d {
    let padding = kernel / 2;
    Conv2dConfig::new(channels, [kernel, kernel])
        .with_stride([stride, stride])
        .with_padding(PaddingConfig2d::Explicit(padding, padding, padding, padding))
        .with_bias(false)
        .init(device)
}

/// A norm with fixed statistics: Burn does not update them on a device without gradients.
fn norm(channels: usize, epsilon: f64, device: &Device) -> BatchNorm {
    let mut norm = BatchNormConfig::new(channels).init(device);
    // Set after `init`, which refuses the 0 that torchvision's first checkpoint needs.
    norm.epsilon = epsilon;
    norm
}
