//! [`Norm`]: batch, group or layer normalization.

use burn::module::Module;
use burn::nn::{BatchNorm, BatchNormConfig, GroupNorm, GroupNormConfig, LayerNorm, LayerNormConfig};
use burn::tensor::{DType, Device, Tensor};

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

/// What detectron2's layer normalization adds to the variance.
pub(crate) const LAYER_NORM_EPSILON: f64 = 1e-6;

impl Norm {
    /// A norm with Burn's initial weights: with a number of groups, group normalization.
    ///
    /// # Panics
    ///
    /// If `channels` is not a multiple of `groups`.
    pub(crate) fn new(channels: usize, groups: Option<usize>, epsilon: f64, device: &Device) -> Self {
        match groups {
            None => {
                let mut norm = BatchNormConfig::new(channels).init(device);
                // Set after `init`, which refuses the 0 that torchvision's first checkpoints need.
                norm.epsilon = epsilon;
                Self::Batch(norm)
            }
            Some(groups) => {
                let norm = GroupNormConfig::new(groups, channels).with_epsilon(epsilon);
                Self::Group(norm.init(device))
            }
        }
    }

    /// Layer normalization with Burn's initial weights.
    pub(crate) fn layer(channels: usize, epsilon: f64, device: &Device) -> Self {
        Self::Layer(LayerNormConfig::new(channels).with_epsilon(epsilon).init(device))
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
