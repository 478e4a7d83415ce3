//! A ResNet of bottleneck blocks. The fields have the names of torchvision's weights.

use burn::module::Module;
use burn::nn::PaddingConfig2d;
use burn::nn::conv::Conv2d;
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use super::conv_norm::{ConvNorm, Norms, convolution};
use crate::heads::Norm;
use crate::heads::conv_block::convolve;
use crate::models::config::ResNetConfig;

/// A ResNet without its classifier.
#[derive(Module, Debug)]
pub struct ResNet {
    conv1: Conv2d,
    bn1: Norm,
    maxpool: MaxPool2d,
    layer1: Vec<Bottleneck>,
    layer2: Vec<Bottleneck>,
    layer3: Vec<Bottleneck>,
    /// Empty if the last layer runs on pooled regions.
    layer4: Vec<Bottleneck>,
}

impl ResNet {
    pub(super) fn new(config: &ResNetConfig, device: &Device) -> Self {
        let layer = |index| match index < config.layers() {
            true => layer(config, index, device),
            false => Vec::new(),
        };
        Self {
            conv1: convolution([3, config.stem_channels], 7)
                .with_stride([2, 2])
                .init(device),
            bn1: norms(config).init(config.stem_channels, device),
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

    /// The outputs of the layers, the finest first.
    ///
    /// - `input`: `[N, 3, H, W]`.
    /// - Returns a map `[N, channels, height, width]` for each layer.
    pub fn forward(&self, input: Tensor<4>) -> Vec<Tensor<4>> {
        let stem = relu(self.bn1.forward(self.conv1.forward(input)));
        let mut features = self.maxpool.forward(stem);
        let mut outputs = Vec::new();
        for layer in [&self.layer1, &self.layer2, &self.layer3, &self.layer4] {
            if layer.is_empty() {
                break;
            }
            features = apply(layer, features);
            outputs.push(features.clone());
        }
        outputs
    }

    /// Freezes the stem and the layers after it, so many of these in all.
    #[cfg(feature = "train")]
    pub(super) fn with_frozen_stages(mut self, stages: usize) -> Self {
        if stages > 0 {
            self.conv1 = self.conv1.freeze();
            self.bn1 = self.bn1.freeze();
        }
        let layers = [&mut self.layer1, &mut self.layer2, &mut self.layer3, &mut self.layer4];
        for layer in layers.into_iter().take(stages.saturating_sub(1)) {
            *layer = std::mem::take(layer).freeze();
        }
        self
    }
}

/// The blocks of a layer, one after the other.
pub fn apply(layer: &[Bottleneck], features: Tensor<4>) -> Tensor<4> {
    layer.iter().fold(features, |features, block| block.forward(features))
}

/// The blocks of a layer, counted from 0.
pub fn layer(config: &ResNetConfig, index: usize, device: &Device) -> Vec<Bottleneck> {
    let outputs = config.layer_channels();
    let input = if index == 0 {
        config.stem_channels
    } else {
        outputs[index - 1]
    };
    let blocks = (0..config.blocks[index]).map(|block| {
        let (input, stride) = match block {
            0 => (input, config.layer_stride(index)),
            _ => (outputs[index], 1),
        };
        let channels = [input, config.bottleneck_channels[index], outputs[index]];
        Bottleneck::new(config, index, channels, stride, device)
    });
    blocks.collect()
}

fn norms(config: &ResNetConfig) -> Norms {
    Norms {
        kind: config.norm,
        epsilon: config.batch_norm_epsilon,
        frozen: config.frozen_norms,
    }
}

/// Three convolutions beside the identity.
#[derive(Module, Debug)]
pub struct Bottleneck {
    conv1: Conv2d,
    bn1: Norm,
    conv2: Conv2d,
    bn2: Norm,
    conv3: Conv2d,
    bn3: Norm,
    /// Present if input and output differ in size or channels.
    downsample: Option<ConvNorm>,
}

impl Bottleneck {
    fn new(
        config: &ResNetConfig,
        layer: usize,
        [input, inner, output]: [usize; 3],
        stride: usize,
        device: &Device,
    ) -> Self {
        let norms = norms(config);
        let [stride_1x1, stride_3x3] = match config.stride_in_1x1 {
            true => [stride, 1],
            false => [1, stride],
        };
        let dilation = if layer == 3 { config.last_dilation } else { 1 };
        let downsample = (stride != 1 || input != output).then(|| {
            let conv = convolution([input, output], 1).with_stride([stride; 2]);
            ConvNorm::new(conv, norms, None, device)
        });
        let conv2 = convolution([inner, inner], 3)
            .with_stride([stride_3x3; 2])
            .with_groups(config.groups)
            .with_dilation([dilation; 2])
            .with_padding(PaddingConfig2d::Explicit(dilation, dilation, dilation, dilation));
        Self {
            conv1: convolution([input, inner], 1).with_stride([stride_1x1; 2]).init(device),
            bn1: norms.init(inner, device),
            conv2: conv2.init(device),
            bn2: norms.init(inner, device),
            conv3: convolution([inner, output], 1).init(device),
            bn3: norms.init(output, device),
            downsample,
        }
    }

    /// `[N, in_channels, H, W]` to `[N, out_channels, height, width]`.
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let inner = relu(self.bn1.forward(convolve(&self.conv1, input.clone())));
        let inner = relu(self.bn2.forward(self.conv2.forward(inner)));
        let inner = self.bn3.forward(convolve(&self.conv3, inner));
        let identity = match &self.downsample {
            Some(downsample) => downsample.forward(input),
            None => input,
        };
        relu(inner + identity)
    }
}
