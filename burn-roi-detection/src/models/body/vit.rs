//! A plain vision transformer with attention in windows. The fields have the names of detectron2's weights.

use burn::module::{Module, Param};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{Initializer, LayerNorm, LayerNormConfig, Linear, LinearConfig};
use burn::tensor::activation::gelu;
use burn::tensor::{Device, Tensor};

use super::attention::{Attention, join_windows, windows};
use super::positions::absolute_positions;
use crate::heads::norm::layer_norm;
use crate::models::config::ViTConfig;

/// A vision transformer without its classifier.
#[derive(Module, Debug)]
pub struct ViT {
    patch_embed: PatchEmbedding,
    /// `[1, positions, channels]`.
    pos_embed: Option<Param<Tensor<3>>>,
    blocks: Vec<Block>,
    #[module(skip)]
    class_token: bool,
}

impl ViT {
    pub(super) fn new(config: &ViTConfig, device: &Device) -> Self {
        let positions = config.positions().map(|positions| {
            let small = Initializer::Normal { mean: 0.0, std: 0.02 };
            small.init([1, positions, config.channels], device)
        });
        Self {
            patch_embed: PatchEmbedding::new(config, device),
            pos_embed: positions,
            blocks: (0..config.blocks)
                .map(|block| Block::new(config, block, device))
                .collect(),
            class_token: config.class_token,
        }
    }

    /// The map of the last block.
    ///
    /// - `input`: `[N, 3, H, W]`.
    /// - Returns one map `[N, channels, H / patch_size, W / patch_size]`.
    pub fn forward(&self, input: Tensor<4>) -> Vec<Tensor<4>> {
        let mut patches = self.patch_embed.forward(input);
        if let Some(embeddings) = &self.pos_embed {
            let [_, height, width, _] = patches.dims();
            patches = patches + absolute_positions(embeddings.val(), self.class_token, [height, width]);
        }
        for block in &self.blocks {
            patches = block.forward(patches);
        }
        vec![patches.permute([0, 3, 1, 2])]
    }

    /// Freezes the embeddings of patches and positions, and the blocks after them, so many of these in all.
    #[cfg(feature = "train")]
    pub(super) fn with_frozen_stages(mut self, stages: usize) -> Self {
        if stages > 0 {
            self.patch_embed = self.patch_embed.freeze();
            self.pos_embed = self.pos_embed.freeze();
        }
        let blocks = self.blocks.into_iter().enumerate();
        let blocks = blocks.map(|(index, block)| if index + 1 < stages { block.freeze() } else { block });
        self.blocks = blocks.collect();
        self
    }
}

/// The convolution that makes an embedding of each patch.
#[derive(Module, Debug)]
struct PatchEmbedding {
    proj: Conv2d,
}

impl PatchEmbedding {
    fn new(config: &ViTConfig, device: &Device) -> Self {
        let patch = [config.patch_size; 2];
        let proj = Conv2dConfig::new([3, config.channels], patch).with_stride(patch);
        Self {
            proj: proj.init(device),
        }
    }

    /// `[N, 3, H, W]` to `[N, height, width, channels]`.
    fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        self.proj.forward(input).permute([0, 2, 3, 1])
    }
}

/// Attention and two linear layers, each beside the identity.
#[derive(Module, Debug)]
struct Block {
    norm1: LayerNorm,
    attn: Attention,
    norm2: LayerNorm,
    mlp: Mlp,
    /// The height and width of the windows of attention. `None`: it spans the whole map.
    #[module(skip)]
    window: Option<usize>,
}

impl Block {
    fn new(config: &ViTConfig, index: usize, device: &Device) -> Self {
        let norm = LayerNormConfig::new(config.channels).with_epsilon(config.norm_epsilon);
        let window = (!config.global_blocks.contains(&index)).then_some(config.window_size);
        let side = window.unwrap_or(config.input_size / config.patch_size);
        Self {
            norm1: norm.init(device),
            attn: Attention::new(config, side, device),
            norm2: norm.init(device),
            mlp: Mlp::new(config, device),
            window,
        }
    }

    /// `[N, H, W, channels]` to the same shape.
    fn forward(&self, patches: Tensor<4>) -> Tensor<4> {
        let normalized = layer_norm(&self.norm1, patches.clone());
        let attended = match self.window {
            Some(size) => join_windows(self.attn.forward(windows(normalized, size)), patches.dims()),
            None => self.attn.forward(normalized),
        };
        let patches = patches + attended;
        let normalized = layer_norm(&self.norm2, patches.clone());
        patches + self.mlp.forward(normalized)
    }
}

/// Two linear layers, and between them a GELU.
#[derive(Module, Debug)]
struct Mlp {
    fc1: Linear,
    fc2: Linear,
}

impl Mlp {
    fn new(config: &ViTConfig, device: &Device) -> Self {
        let hidden = config.hidden_channels.unwrap_or(4 * config.channels);
        Self {
            fc1: LinearConfig::new(config.channels, hidden).init(device),
            fc2: LinearConfig::new(hidden, config.channels).init(device),
        }
    }

    fn forward(&self, patches: Tensor<4>) -> Tensor<4> {
        self.fc2.forward(gelu(self.fc1.forward(patches)))
    }
}
