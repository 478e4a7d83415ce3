//! [`Norm`]: batch, group or layer normalization, by its [`NormKind`].

use burn::module::Module;
use burn::nn::{BatchNorm, BatchNormConfig, GroupNorm, GroupNormConfig, LayerNorm, LayerNormConfig};
use burn::tensor::{DType, Device, Tensor};
use serde::{Deserialize, Serialize};

/// What follows a convolution.
// A model has few norms, so the larger variant costs nothing.
#[allow(clippy::large_enum_variant)]
#[derive(Module, Debug)]
pub enum Norm {
    /// Batch normalization.
    Batch(BatchNorm),
    /// Group normalization: the channels of a group have their own mean and variance in each map.
    Group(GroupNorm),
    /// Layer normalization: each pixel has its own mean and variance over the channels.
    Layer(LayerNorm),
}

/// The kind of a [`Norm`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NormKind {
    /// Batch normalization.
    Batch,
    /// Group normalization with so many groups, a divisor of the number of channels: 32 in detectron2's `GN`.
    Group(usize),
    /// Layer normalization over the channels of each pixel: detectron2's `LN`. In heads and pyramids it adds 1e-6 to
    /// the variance, as detectron2 does; in a [`ConvBlockConfig`](crate::ConvBlockConfig) and a ResNet, what the config
    /// says.
    Layer,
}

impl Norm {
    /// A norm with Burn's initial weights.
    ///
    /// # Panics
    ///
    /// If `channels` is not a multiple of the number of groups.
    pub(crate) fn new(kind: NormKind, channels: usize, epsilon: f64, device: &Device) -> Self {
        match kind {
            NormKind::Batch => {
                let mut norm = BatchNormConfig::new(channels).init(device);
                // Set after `init`, which refuses the 0 that torchvision's first checkpoints need.
                norm.epsilon = epsilon;
                Self::Batch(norm)
            }
            NormKind::Group(groups) => {
                let norm = GroupNormConfig::new(groups, channels).with_epsilon(epsilon);
                Self::Group(norm.init(device))
            }
            NormKind::Layer => Self::Layer(LayerNormConfig::new(channels).with_epsilon(epsilon).init(device)),
        }
    }

    /// Normalizes maps `[N, C, H, W]` in the dtype of the norm's weights, and returns them in their own. Training in
    /// half precision keeps its weights and statistics in f32: a variance below 6e-8 is 0 in f16.
    pub fn forward(&self, maps: Tensor<4>) -> Tensor<4> {
        let dtype = maps.dtype();
        let maps = maps.cast(self.dtype().unwrap_or(dtype));
        let maps = match self {
            Self::Batch(norm) => norm.forward(maps),
            Self::Group(norm) => norm.forward(maps),
            Self::Layer(norm) => norm.forward(maps.permute([0, 2, 3, 1])).permute([0, 3, 1, 2]),
        };
        maps.cast(dtype)
    }

    fn dtype(&self) -> Option<DType> {
        match self {
            Self::Batch(norm) => Some(norm.gamma.dtype()),
            Self::Group(norm) => norm.gamma.as_ref().map(|gamma| gamma.dtype()),
            Self::Layer(norm) => Some(norm.gamma.dtype()),
        }
    }
}

/// Layer normalization of the last axis, in the dtype of the norm's weights.
#[cfg(feature = "models")]
pub(crate) fn layer_norm<const D: usize>(norm: &LayerNorm, values: Tensor<D>) -> Tensor<D> {
    let dtype = values.dtype();
    norm.forward(values.cast(norm.gamma.dtype())).cast(dtype)
}
