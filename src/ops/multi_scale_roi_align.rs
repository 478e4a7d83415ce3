//! `multi_scale_roi_align`: `roi_align` on a feature pyramid, each region on the level of its size.

use burn::tensor::Tensor;

use super::pyramid::{PyramidConfig, try_multi_scale_pool};
use super::{Pool, RoiAlignConfig};
use crate::config::config;
use crate::error::{RoiError, panicking};
use crate::regions::Rois;

config! {
/// The options of [`multi_scale_roi_align`]. The defaults match torchvision's `MultiScaleRoIAlign`.
/// [`torchvision::MultiScaleRoiAlign`](crate::torchvision::MultiScaleRoiAlign),
/// [`detectron2::RoiPooler`](crate::detectron2::RoiPooler),
/// [`openvino::RoiFeatureExtractor6`](crate::openvino::RoiFeatureExtractor6) and
/// [`mmcv::MultiLevelRoiAlign`](crate::mmcv::MultiLevelRoiAlign) have the frameworks' option names.
///
/// A region belongs to the level
///
/// ```text
/// floor(canonical_level + log2(sqrt(area) / canonical_scale + ratio_epsilon) + level_epsilon)
/// ```
///
/// clamped to the available levels. A pixel of level `k` is `2^k` pixels of the image wide. With `first_level`, the
/// maps are the levels `first_level`, `first_level + 1`, and so on, in their order.
///
/// ```
/// use burn_roi::{MultiScaleRoiAlignConfig, RoiAlignConfig};
///
/// let roi_align = RoiAlignConfig::new([7, 7]).with_sampling_ratio(2).with_aligned(true);
/// let config = MultiScaleRoiAlignConfig::new(roi_align).with_canonical_scale(160.0);
/// assert_eq!(config.canonical_level, 4);
/// ```
#[derive(Debug, PartialEq)]
pub struct MultiScaleRoiAlignConfig {
    /// What is computed on each level. Its spatial scales are multiplied by the level's scale.
    pub roi_align: RoiAlignConfig,
    /// The side of a square box that belongs to the canonical level, in box coordinates; 1e-6 to 1e6.
    pub canonical_scale: f64 = 224.0,
    /// The level of such a box, -32 to 32.
    pub canonical_level: i32 = 4,
    /// Added to the ratio of the sides, 0 to 1.
    pub ratio_epsilon: f64 = 0.0,
    /// Added to the level, 0 to 1.
    pub level_epsilon: f64 = 1e-6,
    /// The level of the first map, -32 to 32. With it, scales may be any. If `None`, the first scale decides the level.
    pub first_level: Option<i32> = None,
    /// Whether a box without area belongs to the first map. Otherwise it returns the out-of-bounds value.
    pub pools_empty: bool = true,
}
}

impl MultiScaleRoiAlignConfig {
    /// Creates the module.
    pub fn init(&self) -> MultiScaleRoiAlign {
        Pool { config: self.clone() }
    }

    /// Which level a region belongs to.
    pub fn pyramid(&self) -> PyramidConfig {
        PyramidConfig {
            canonical_scale: self.canonical_scale,
            canonical_level: self.canonical_level,
            ratio_epsilon: self.ratio_epsilon,
            level_epsilon: self.level_epsilon,
            first_level: self.first_level,
            pools_empty: self.pools_empty,
        }
    }
}

panicking! {
/// Samples regions of a feature pyramid, each on the level of its size.
///
/// - `features`: one map `[N, C, Hᵢ, Wᵢ]` for each level, from the finest to the coarsest, as
///   [`roi_align`](crate::roi_align()) takes them.
/// - `rois`: boxes `[x1, y1, x2, y2]` in pixels of the image, of the features' dtype, or of f32 for half features,
///   and on their device.
/// - `scales`: for each level, the size of its map divided by the size of the image. They are powers of two, each half
///   of the one before, as [`infer_scales`](crate::infer_scales()) returns. A pyramid of one level, and one with
///   `first_level`, may have any scales.
/// - Returns `[K, C, P, Q]`: each region once, in the order given.
///
/// On Flex and NdArray a box that is not finite and a batch index out of range are errors. GPU backends and remote
/// devices do not copy boxes back to check them: the output of such a box is the out-of-bounds value, and
/// [`Rois::validate`] finds the box.
///
/// On a GPU up to four levels are pooled in one launch. Each level is a launch of its own, which skips regions of other
/// levels, if there are more than four, if `pools_empty` is off, and on autodiff and remote devices.
///
/// All backends choose the same level: the limits between levels are precomputed as areas, from the formula in f32 (f64
/// for f64), and areas are compared.
///
/// The operator of Feature Pyramid Networks (Lin et al., 2017), as torchvision, detectron2 or OpenVINO compute it.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{Rois, infer_scales, multi_scale_roi_align, torchvision};
///
/// let device = Device::default();
/// let sizes = [[56, 80], [28, 40], [14, 20], [7, 10]];
/// let features: Vec<_> = sizes.map(|[h, w]| Tensor::<4>::ones([1, 8, h, w], &device)).into();
/// let boxes = Tensor::<2>::from_floats([[8.0, 8.0, 40.0, 40.0], [0.0, 0.0, 300.0, 200.0]], &device);
///
/// let scales = infer_scales(&sizes, &[[224, 320]]);
/// assert_eq!(scales, [0.25, 0.125, 0.0625, 0.03125]);
/// let config = torchvision::MultiScaleRoiAlign::new([7, 7]).with_sampling_ratio(2);
/// let pooled = multi_scale_roi_align(features, &Rois::from_images(vec![boxes]), &scales, config);
/// assert_eq!(pooled.dims(), [2, 8, 7, 7]);
/// ```
pub fn multi_scale_roi_align(
    features: Vec<Tensor<4>>,
    rois: &Rois,
    scales: &[f64],
    config: impl Into<MultiScaleRoiAlignConfig>,
) -> Tensor<4>;
/// - [`RoiError::Levels`]: no map, or not as many scales as maps.
/// - [`RoiError::Shape`]: a level with another number of images or channels than the first.
/// - [`RoiError::DType`]: a level with another dtype than the first.
/// - [`RoiError::Option`]: without `first_level`, scales that are not powers of two, each half of the one before; an
///   option of [`MultiScaleRoiAlignConfig`] out of its range.
/// - All errors of [`try_roi_align`](crate::try_roi_align), for any level.
pub fn try_multi_scale_roi_align {
    let config = config.into();
    let pyramid = config.pyramid();
    try_multi_scale_pool(features, rois, scales, config.roi_align, pyramid)
}
}

/// [`multi_scale_roi_align`] as a module. Created by [`MultiScaleRoiAlignConfig::init`].
pub type MultiScaleRoiAlign = Pool<MultiScaleRoiAlignConfig>;

impl MultiScaleRoiAlign {
    /// Applies [`multi_scale_roi_align`]: maps `[N, C, Hᵢ, Wᵢ]` and K regions to `[K, C, P, Q]`.
    ///
    /// # Panics
    ///
    /// As [`multi_scale_roi_align`] does.
    pub fn forward(&self, features: Vec<Tensor<4>>, rois: &Rois, scales: &[f64]) -> Tensor<4> {
        multi_scale_roi_align(features, rois, scales, self.config.clone())
    }
}
