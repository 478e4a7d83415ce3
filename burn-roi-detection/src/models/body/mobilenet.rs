//! A MobileNetV3 of inverted residual blocks.

use burn::module::Module;
use burn::nn::activation::ActivationConfig;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::pool::{AdaptiveAvgPool2d, AdaptiveAvgPool2dConfig};
use burn::tensor::activation::{hard_sigmoid, relu};
use burn::tensor::{Device, Tensor};

use super::conv_norm::{ConvNorm, Norms, convolution};
use crate::NormKind;
use crate::models::config::{InvertedResidualConfig, MobileNetV3Config};

/// A MobileNetV3 without its classifier, up to its last output.
#[derive(Module, Debug)]
pub struct MobileNetV3 {
    /// The first convolution.
    pub stem: ConvNorm,
    /// The blocks up to the last output.
    pub blocks: Vec<InvertedResidual>,
    /// The last convolution, if it is an output.
    pub last: Option<ConvNorm>,
    #[module(skip)]
    outputs: Vec<usize>,
}

impl MobileNetV3 {
    pub(super) fn new(config: &MobileNetV3Config, device: &Device) -> Self {
        let norms = Norms {
            kind: NormKind::Batch,
            epsilon: config.batch_norm_epsilon,
            frozen: config.frozen_norms,
        };
        let last_output = config.outputs.last().copied().unwrap_or_default();
        let blocks = config.blocks.iter().enumerate().take(last_output);
        let blocks = blocks.map(|(index, block)| {
            let input = config.part_channels(index);
            InvertedResidual::new(block, input, norms, device)
        });
        let conv_norm = |conv| ConvNorm::new(conv, norms, Some(ActivationConfig::HardSwish), device);
        let last = (last_output > config.blocks.len()).then(|| {
            let input = config.part_channels(config.blocks.len());
            conv_norm(convolution([input, config.last_channels], 1))
        });
        Self {
            stem: conv_norm(convolution([3, config.stem_channels], 3).with_stride([2; 2])),
            blocks: blocks.collect(),
            last,
            outputs: config.outputs.clone(),
        }
    }

    /// The maps of the outputs.
    ///
    /// - `input`: `[N, 3, H, W]`.
    /// - Returns a map `[N, channels, height, width]` for each of the config's `outputs`.
    pub fn forward(&self, input: Tensor<4>) -> Vec<Tensor<4>> {
        let mut outputs = Vec::new();
        let mut keep = |part: usize, features: &Tensor<4>| {
            if self.outputs.contains(&part) {
                outputs.push(features.clone());
            }
        };
        let mut features = self.stem.forward(input);
        keep(0, &features);
        for (index, block) in self.blocks.iter().enumerate() {
            features = block.forward(features);
            keep(index + 1, &features);
        }
        if let Some(last) = &self.last {
            features = last.forward(features);
            keep(self.blocks.len() + 1, &features);
        }
        outputs
    }

    /// Freezes the stem, the blocks and the last convolution, so many of these in all.
    #[cfg(feature = "train")]
    pub(super) fn with_frozen_stages(mut self, stages: usize) -> Self {
        if stages > 0 {
            self.stem = self.stem.freeze();
        }
        let blocks = self.blocks.into_iter().enumerate();
        let blocks = blocks.map(|(index, block)| if index + 1 < stages { block.freeze() } else { block });
        self.blocks = blocks.collect();
        if stages > self.blocks.len() + 1 {
            self.last = self.last.freeze();
        }
        self
    }
}

/// A block of a MobileNetV3.
#[derive(Module, Debug)]
pub struct InvertedResidual {
    /// The 1 x 1 convolution that expands.
    pub expand: Option<ConvNorm>,
    /// The depthwise convolution.
    pub depthwise: ConvNorm,
    /// Squeeze and excitation.
    pub squeeze: Option<SqueezeExcitation>,
    /// The 1 x 1 convolution that projects.
    pub project: ConvNorm,
    #[module(skip)]
    adds_input: bool,
}

impl InvertedResidual {
    fn new(config: &InvertedResidualConfig, input: usize, norms: Norms, device: &Device) -> Self {
        let (expanded, output) = (config.expanded_channels, config.output_channels);
        let activation = Some(match config.hard_swish {
            true => ActivationConfig::HardSwish,
            false => ActivationConfig::Relu,
        });
        let conv_norm = |conv, activation| ConvNorm::new(conv, norms, activation, device);
        let depthwise = convolution([expanded; 2], config.kernel_size)
            .with_stride([config.stride; 2])
            .with_groups(expanded);
        let squeeze = |squeezed| SqueezeExcitation::new(expanded, squeezed, device);
        Self {
            expand: (expanded != input).then(|| conv_norm(convolution([input, expanded], 1), activation.clone())),
            depthwise: conv_norm(depthwise, activation.clone()),
            squeeze: config.squeeze_channels.map(squeeze),
            project: conv_norm(convolution([expanded, output], 1), None),
            adds_input: config.stride == 1 && input == output,
        }
    }

    /// `[N, in_channels, H, W]` to `[N, output_channels, height, width]`.
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let mut maps = input.clone();
        if let Some(expand) = &self.expand {
            maps = expand.forward(maps);
        }
        maps = self.depthwise.forward(maps);
        if let Some(squeeze) = &self.squeeze {
            maps = squeeze.forward(maps);
        }
        maps = self.project.forward(maps);
        if self.adds_input { maps + input } else { maps }
    }
}

/// Scales each channel by what two layers make of the means of all channels.
#[derive(Module, Debug)]
pub struct SqueezeExcitation {
    avgpool: AdaptiveAvgPool2d,
    /// The layer that squeezes.
    pub fc1: Conv2d,
    /// The layer that excites.
    pub fc2: Conv2d,
}

impl SqueezeExcitation {
    fn new(channels: usize, squeeze_channels: usize, device: &Device) -> Self {
        Self {
            avgpool: AdaptiveAvgPool2dConfig::new([1, 1]).init(),
            fc1: Conv2dConfig::new([channels, squeeze_channels], [1, 1]).init(device),
            fc2: Conv2dConfig::new([squeeze_channels, channels], [1, 1]).init(device),
        }
    }

    /// `[N, channels, H, W]` to the same shape.
    pub fn forward(&self, maps: Tensor<4>) -> Tensor<4> {
        let means = self.avgpool.forward(maps.clone());
        let inner = relu(self.fc1.forward(means));
        // torch's hard sigmoid is x / 6 + 1 / 2 between 0 and 1.
        maps * hard_sigmoid(self.fc2.forward(inner), 1.0 / 6.0, 0.5)
    }
}
