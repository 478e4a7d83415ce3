//! The feature pyramid: every map of the backbone with the same number of channels, merged with the coarser maps. That
//! of a vision transformer has resized copies of its map instead.

use burn::module::Module;
use burn::tensor::module::interpolate;
use burn::tensor::ops::{InterpolateMode, InterpolateOptions};
use burn::tensor::{Device, Tensor, s};

use super::config::FeaturePyramidConfig;
use super::rescaling::Rescaling;
use crate::{ConvBlock, ConvBlockConfig};

/// The feature pyramid. The fields have the names of torchvision's weights.
#[derive(Module, Debug)]
pub struct FeaturePyramid {
    /// The first layers of a simple feature pyramid, whose maps are not merged.
    rescaling: Option<Rescaling>,
    inner_blocks: Vec<ConvBlock>,
    layer_blocks: Vec<ConvBlock>,
}

impl FeaturePyramid {
    /// A pyramid with Burn's initial weights, for maps with these channels.
    pub(super) fn new(config: &FeaturePyramidConfig, map_channels: &[usize], device: &Device) -> Self {
        let block = |input, kernel| {
            ConvBlockConfig::new(input, config.channels, kernel)
                .with_norm_of(config.norm)
                .with_activation(false)
                .init(device)
        };
        let last = map_channels.last().copied().unwrap_or_default();
        let rescaled = Rescaling::channels(last);
        let map_channels = if config.simple { &rescaled } else { map_channels };
        Self {
            rescaling: config.simple.then(|| Rescaling::new(config, last, device)),
            inner_blocks: map_channels.iter().map(|&channels| block(channels, 1)).collect(),
            layer_blocks: map_channels.iter().map(|_| block(config.channels, 3)).collect(),
        }
    }

    /// The levels of the pyramid.
    ///
    /// - `maps`: the backbone's maps, the finest first.
    /// - Returns a level for each map, or 4 levels of the last map if the pyramid is simple, and one of half the
    ///   coarsest level's size, each `[N, channels, height, width]`.
    pub fn forward(&self, maps: Vec<Tensor<4>>) -> Vec<Tensor<4>> {
        let maps = match &self.rescaling {
            Some(rescaling) => rescaling.forward(maps),
            None => maps,
        };
        let mut levels = Vec::new();
        let mut coarser: Option<Tensor<4>> = None;
        let blocks = self.inner_blocks.iter().zip(&self.layer_blocks);
        for (map, (inner, layer)) in maps.into_iter().zip(blocks).rev() {
            let lateral = inner.forward(map);
            let merged = match coarser.filter(|_| self.rescaling.is_none()) {
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
    if coarser.dims()[2..] == [height, width] {
        return coarser;
    }
    let options = InterpolateOptions::new(InterpolateMode::Nearest).with_output_size([height, width]);
    interpolate(coarser, options)
}
