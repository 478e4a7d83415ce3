//! The feature pyramid: every map of the body with the same number of channels, merged with the coarser maps.

use burn::module::Module;
use burn::tensor::module::interpolate;
use burn::tensor::ops::{InterpolateMode, InterpolateOptions};
use burn::tensor::{Device, Tensor, s};
use burn_roi_detection::{ConvBlock, ConvBlockConfig};

use super::backbone::EXPANSION;
use crate::config::Config;

#[derive(Module, Debug)]
pub struct FeaturePyramid {
    inner_blocks: Vec<ConvBlock>,
    layer_blocks: Vec<ConvBlock>,
}

impl FeaturePyramid {
    pub fn new(config: &Config, device: &Device) -> Self {
        let channels = config.feature_pyramid.channels;
        let block = |input, kernel| {
            ConvBlockConfig::new(input, channels, kernel)
                .with_normalized(config.feature_pyramid.normalized)
                .with_activation(false)
                .init(device)
        };
        let bottlenecks = config.body.bottleneck_channels;
        Self {
            inner_blocks: bottlenecks.map(|width| block(EXPANSION * width, 1)).to_vec(),
            layer_blocks: bottlenecks.map(|_| block(channels, 3)).to_vec(),
        }
    }

    /// A level for each map, the largest first, and one of half the smallest's size.
    pub fn forward(&self, maps: Vec<Tensor<4>>) -> Vec<Tensor<4>> {
        let mut levels = Vec::new();
        let mut coarser: Option<Tensor<4>> = None;
        let blocks = self.inner_blocks.iter().zip(&self.layer_blocks);
        for (map, (inner, layer)) in maps.into_iter().zip(blocks).rev() {
            let lateral = inner.forward(map);
            let merged = match coarser {
                Some(coarser) => enlarge_like(coarser, &lateral) + lateral,
                None => lateral,
            };
            levels.push(layer.forward(merged.clone()));
            coarser = Some(merged);
        }
        levels.reverse();
        if let Some(last) = levels.last() {
            levels.push(last.clone().slice(s![.., .., ..;2, ..;2]));
        }
        levels
    }
}

/// Enlarges a map to the size of the next finer one, by nearest neighbour.
fn enlarge_like(coarser: Tensor<4>, finer: &Tensor<4>) -> Tensor<4> {
    let [_, _, height, width] = finer.dims();
    let options = InterpolateOptions::new(InterpolateMode::Nearest).with_output_size([height, width]);
    interpolate(coarser, options)
}
