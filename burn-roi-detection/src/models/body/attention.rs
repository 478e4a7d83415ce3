//! Attention with relative positions, and the windows that it may span.

use burn::module::{Module, Param};
use burn::nn::{Initializer, Linear, LinearConfig};
use burn::tensor::activation::softmax;
use burn::tensor::ops::PadMode;
use burn::tensor::{DType, Device, Tensor, s};

use super::positions::relative_positions;
use crate::models::config::ViTConfig;

/// Attention of several heads, whose scores depend on how many rows and columns lie between two patches. The fields
/// have the names of detectron2's weights.
#[derive(Module, Debug)]
pub struct Attention {
    qkv: Linear,
    proj: Linear,
    /// `[distances, channels of a head]`.
    rel_pos_h: Option<Param<Tensor<2>>>,
    /// `[distances, channels of a head]`.
    rel_pos_w: Option<Param<Tensor<2>>>,
    #[module(skip)]
    heads: usize,
}

impl Attention {
    /// - `side`: the height and width of the map or window that the relative positions are for.
    pub fn new(config: &ViTConfig, side: usize, device: &Device) -> Self {
        let channels = config.channels;
        let distances = || {
            let shape = [2 * side - 1, channels / config.heads];
            config
                .relative_positions
                .then(|| Initializer::Zeros.init(shape, device))
        };
        Self {
            qkv: LinearConfig::new(channels, 3 * channels)
                .with_bias(config.qkv_bias)
                .init(device),
            proj: LinearConfig::new(channels, channels).init(device),
            rel_pos_h: distances(),
            rel_pos_w: distances(),
            heads: config.heads,
        }
    }

    /// `[N, H, W, channels]` to the same shape.
    pub fn forward(&self, patches: Tensor<4>) -> Tensor<4> {
        let [count, height, width, channels] = patches.dims();
        let (tokens, features) = (height * width, channels / self.heads);
        let qkv = self.qkv.forward(patches);
        let qkv = qkv.reshape([count, tokens, 3, self.heads, features]);
        let qkv = qkv.permute([2, 0, 3, 1, 4]);
        let [query, key, value] = [0, 1, 2].map(|part| {
            let part = qkv.clone().slice_dim(0, part);
            part.reshape([count * self.heads, tokens, features])
        });
        let scale = (features as f64).powf(-0.5);
        let mut scores = (query.clone() * scale).matmul(key.transpose());
        if let (Some(rows), Some(columns)) = (&self.rel_pos_h, &self.rel_pos_w) {
            let query = query.reshape([count * self.heads, height, width, features]);
            scores = scores + relative_scores(query, rows.val(), columns.val());
        }
        // As torch's automatic mixed precision, which has the softmax in f32.
        let dtype = scores.dtype();
        let weights = softmax(scores.cast(DType::F32), 2).cast(dtype);
        let attended = weights.matmul(value);
        let attended = attended.reshape([count, self.heads, height, width, features]);
        let attended = attended.permute([0, 2, 3, 1, 4]);
        self.proj.forward(attended.reshape([count, height, width, channels]))
    }
}

/// What relative positions add to the scores of each query and key: `[B, H * W, H * W]`.
///
/// - `query`: `[B, H, W, C]`.
/// - `rows`, `columns`: the embeddings `[distances, C]` of distances.
fn relative_scores(query: Tensor<4>, rows: Tensor<2>, columns: Tensor<2>) -> Tensor<3> {
    let [batch, height, width, _] = query.dims();
    let [rows, columns] = [(rows, height), (columns, width)]
        .map(|(embeddings, side)| relative_positions(embeddings, side).transpose().unsqueeze::<4>());
    let of_rows = query.clone().matmul(rows);
    let of_columns = query.swap_dims(1, 2).matmul(columns).swap_dims(1, 2);
    let scores = of_rows.unsqueeze_dim::<5>(4) + of_columns.unsqueeze_dim::<5>(3);
    scores.reshape([batch, height * width, height * width])
}

/// Maps `[N, H, W, C]` as windows `[N * windows, size, size, C]`, with zeros beyond the right and the bottom.
pub fn windows(maps: Tensor<4>, size: usize) -> Tensor<4> {
    let [count, height, width, channels] = maps.dims();
    let [rows, columns] = [height, width].map(|side| side.div_ceil(size));
    let padding = [(0, 0), (0, rows * size - height), (0, columns * size - width), (0, 0)];
    maps.pad(padding, PadMode::Constant(0.0))
        .reshape([count, rows, size, columns, size, channels])
        .permute([0, 1, 3, 2, 4, 5])
        .reshape([count * rows * columns, size, size, channels])
}

/// The maps `[N, H, W, C]` that [`windows`] splits into these.
pub fn join_windows(windows: Tensor<4>, [count, height, width, channels]: [usize; 4]) -> Tensor<4> {
    let [_, size, ..] = windows.dims();
    let [rows, columns] = [height, width].map(|side| side.div_ceil(size));
    windows
        .reshape([count, rows, columns, size, size, channels])
        .permute([0, 1, 3, 2, 4, 5])
        .reshape([count, rows * size, columns * size, channels])
        .slice(s![.., 0..height, 0..width, ..])
}
