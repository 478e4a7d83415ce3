//! The heads that predict keypoints.

use burn::module::Module;
use burn::nn::conv::{ConvTranspose2d, ConvTranspose2dConfig};
use burn::tensor::module::interpolate;
use burn::tensor::ops::{InterpolateMode, InterpolateOptions};
use burn::tensor::{Device, Tensor};

use super::mask_heads::{MaskRcnnHeads, MaskRcnnHeadsConfig};
use crate::zeros::no_rows;
use burn_roi::config;

/// Options of [`KeypointRcnnHeads`].
pub type KeypointRcnnHeadsConfig = MaskRcnnHeadsConfig;

/// The convolutions of a keypoint head: 3 x 3 convolutions without norms, each with a ReLU. Same semantics as
/// torchvision's `KeypointRCNNHeads`.
///
/// In a torchvision checkpoint, the convolution of layer n, counted from 0, is `2n`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::{KeypointRcnnHeadsConfig, KeypointRcnnPredictorConfig};
///
/// let device = Device::default();
/// let head = KeypointRcnnHeadsConfig::new(8, vec![8; 2]).init(&device);
/// let predictor = KeypointRcnnPredictorConfig::new(8, 17).init(&device);
///
/// let pooled = Tensor::<4>::ones([3, 8, 14, 14], &device);
/// let heatmaps = predictor.forward(head.forward(pooled));
/// assert_eq!(heatmaps.dims(), [3, 17, 56, 56]);
/// ```
pub type KeypointRcnnHeads = MaskRcnnHeads;

config! {
/// Options of [`KeypointRcnnPredictor`].
#[derive(Debug)]
pub struct KeypointRcnnPredictorConfig {
    /// The number of input channels.
    pub in_channels: usize,
    /// The number of keypoints.
    pub num_keypoints: usize,
}
}

impl KeypointRcnnPredictorConfig {
    /// Creates the module, with Burn's initial weights.
    pub fn init(&self, device: &Device) -> KeypointRcnnPredictor {
        KeypointRcnnPredictor {
            kps_score_lowres: ConvTranspose2dConfig::new([self.in_channels, self.num_keypoints], [4, 4])
                .with_stride([2, 2])
                .with_padding([1, 1])
                .init(device),
        }
    }
}

/// A transposed convolution and bilinear interpolation that predict a heatmap of four times the size for each keypoint.
/// Same semantics as torchvision's `KeypointRCNNPredictor`. Created by [`KeypointRcnnPredictorConfig::init`];
/// [`KeypointRcnnHeads`] has an example.
#[derive(Module, Debug)]
pub struct KeypointRcnnPredictor {
    /// The transposed convolution, which doubles the size; `kps_score_lowres` in torchvision.
    pub kps_score_lowres: ConvTranspose2d,
}

impl KeypointRcnnPredictor {
    /// The heatmaps of regions.
    ///
    /// - `features`: `[K, in_channels, M, M]`, in the float dtype of the weights. K may be 0.
    /// - Returns `[K, num_keypoints, 4 * M, 4 * M]`, which is what
    ///   [`heatmaps_to_keypoints`](crate::heatmaps_to_keypoints()) takes.
    ///
    /// # Panics
    ///
    /// If K is above 0 and `features` has another number of channels than `in_channels`.
    pub fn forward(&self, features: Tensor<4>) -> Tensor<4> {
        let [count, _, height, width] = features.dims();
        let size = [4 * height, 4 * width];
        if count == 0 {
            let [_, keypoints, ..] = self.kps_score_lowres.weight.dims();
            return no_rows(self, features, [0, keypoints, size[0], size[1]]);
        }
        let heatmaps = self.kps_score_lowres.forward(features);
        let options = InterpolateOptions::new(InterpolateMode::Bilinear)
            .with_align_corners(false)
            .with_output_size(size);
        interpolate(heatmaps, options)
    }
}
