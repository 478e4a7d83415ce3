//! The config of a vision transformer.

use crate::configs::configs;

configs! {
/// A plain vision transformer with attention in windows: detectron2's `ViT`, the backbone of ViTDet. It has one map, of
/// a pixel for each patch. Its residual blocks of convolutions (`residual_block_indexes`) are not supported.
///
/// ```
/// use burn_roi_detection::models::ViTConfig;
///
/// // The backbone of detectron2's `mask_rcnn_vitdet_l_100ep`.
/// let config = ViTConfig::new(1024, 24, 16, vec![5, 11, 17, 23]);
/// assert_eq!((config.patch_size, config.window_size), (16, 14));
/// ```
pub struct ViTConfig {
    /// The number of channels of a patch's embedding, and of the map. At least 1, and a multiple of `heads`.
    pub channels: usize,
    /// The number of blocks of attention and two linear layers. At least 1.
    pub blocks: usize,
    /// The number of heads of each attention. At least 1.
    pub heads: usize,
    /// The indices of the blocks, from 0 on, whose attention spans the whole map. That of the others spans a window.
    pub global_blocks: Vec<usize>,
    /// The height and width of a patch, in pixels of the model's input. A power of two, at least 4, and a divisor of
    /// [`size_divisible`](super::PreprocessingConfig::size_divisible).
    pub patch_size: usize = 16,
    /// The height and width of a window, in patches. The map is padded with zeros to whole windows. From 1
    /// to 64.
    pub window_size: usize = 14,
    /// The number of channels between the two linear layers of a block, at least 1. `None`: 4 times `channels`.
    pub hidden_channels: Option<usize> = None,
    /// Whether the linear layer of queries, keys and values has a bias.
    pub qkv_bias: bool = true,
    /// The height and width, in pixels, of the pictures that the absolute positions were trained for: there is an
    /// embedding for each of their patches, and these are resized to the map. From `patch_size` to 32768. `None`: there
    /// are no absolute positions.
    pub pretrained_size: Option<usize> = Some(224),
    /// Whether the embedding of a class token, which is not used, precedes those of the patches.
    pub class_token: bool = true,
    /// Whether attention has an embedding for the distance of each pair of rows and of columns.
    pub relative_positions: bool = true,
    /// The height and width, in pixels, of the input that the relative positions of global blocks are for: detectron2's
    /// `img_size`. Those of inputs of other sizes are interpolated. From `patch_size` to 32768.
    pub input_size: usize = 1024,
    /// The number that a norm adds to the variance. Finite, 0 or above.
    pub norm_epsilon: f64 = 1e-6,
}
}

impl ViTConfig {
    /// The number of absolute positions.
    pub(crate) fn positions(&self) -> Option<usize> {
        let side = self.pretrained_size? / self.patch_size;
        Some(side * side + usize::from(self.class_token))
    }
}
