//! torchvision's `roi_align`, `roi_pool`, `ps_roi_align`, `ps_roi_pool` and `MultiScaleRoIAlign`, as release 0.29
//! computes them.
//!
//! For boxes `[K, 5]` with the batch index first, use [`Rois::from_index_first`](crate::Rois::from_index_first). For a
//! list with the boxes of each image, use [`Rois::from_images`](crate::Rois::from_images).

use crate::ops::{MultiScaleRoiAlignConfig, PsRoiAlignConfig, PsRoiPoolConfig, RoiAlignConfig, RoiPoolConfig};

framework! {
/// The arguments of `torchvision.ops.roi_align`.
///
/// ```
/// use burn_roi::{RoiAlignConfig, torchvision};
///
/// let config: RoiAlignConfig = torchvision::RoiAlign::new([7, 7])
///     .with_spatial_scale(0.25)
///     .with_sampling_ratio(2)
///     .with_aligned(true)
///     .into();
/// assert_eq!(config.input_pixel_offset, 0.5);
/// ```
pub struct RoiAlign {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f64 = 1.0,
    /// Samples of an output element along each axis; 0 or below for the adaptive number.
    pub sampling_ratio: i64 = -1,
    /// As in [`RoiAlignConfig::with_aligned`](crate::RoiAlignConfig::with_aligned).
    pub aligned: bool = false,
}
RoiAlignConfig::new(output_size) with spatial_scale, sampling_ratio(sampling_ratio.max(0) as usize), aligned
}

framework! {
/// The arguments of `torchvision.ops.roi_pool`.
///
/// ```
/// use burn_roi::{RoiPoolConfig, torchvision};
///
/// let config: RoiPoolConfig = torchvision::RoiPool::new([7, 7]).with_spatial_scale(1.0 / 16.0).into();
/// assert_eq!(config.spatial_scale_x, 0.0625);
/// ```
pub struct RoiPool {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f64 = 1.0,
}
RoiPoolConfig::new(output_size) with spatial_scale
}

framework! {
/// The arguments of `torchvision.ops.ps_roi_align`, which is always aligned.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{Rois, ps_roi_align, torchvision};
///
/// let device = Device::default();
/// let rois = Rois::from_images(vec![Tensor::<2>::from_floats([[16.0, 16.0, 240.0, 128.0]], &device)]);
/// let config = torchvision::PsRoiAlign::new([3, 3]).with_spatial_scale(0.25).with_sampling_ratio(2);
/// // 5 channels for each of 3 x 3 elements.
/// let pooled = ps_roi_align(Tensor::<4>::ones([1, 5 * 3 * 3, 50, 76], &device), &rois, config);
/// assert_eq!(pooled.dims(), [1, 5, 3, 3]);
/// ```
pub struct PsRoiAlign {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f64 = 1.0,
    /// Samples of an output element along each axis; 0 or below for the adaptive number.
    pub sampling_ratio: i64 = -1,
}
PsRoiAlignConfig::new(output_size) with spatial_scale, sampling_ratio(sampling_ratio.max(0) as usize)
}

framework! {
/// The arguments of `torchvision.ops.ps_roi_pool`.
///
/// ```
/// use burn_roi::{PsRoiPoolConfig, torchvision};
///
/// let config: PsRoiPoolConfig = torchvision::PsRoiPool::new([7, 7]).with_torchvision_gradient(true).into();
/// assert!(config.gradient_reaches_last_pixel && !config.reaches_last_pixel);
/// ```
pub struct PsRoiPool {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f64 = 1.0,
    /// Whether the gradient of features is torchvision's, whose bins reach the last row and the last column of the map.
    /// The operator's own bins end before them, and the default is the derivative of the operator.
    pub torchvision_gradient: bool = false,
}
PsRoiPoolConfig::new(output_size) with spatial_scale, gradient_reaches_last_pixel(torchvision_gradient)
}

framework! {
/// The arguments of `torchvision.ops.MultiScaleRoIAlign`, which is never aligned.
///
/// ```
/// use burn_roi::{MultiScaleRoiAlignConfig, Sampling, torchvision};
///
/// let config: MultiScaleRoiAlignConfig = torchvision::MultiScaleRoiAlign::new([7, 7]).with_sampling_ratio(2).into();
/// assert_eq!(config.roi_align.sampling, Sampling::Fixed(2));
/// ```
pub struct MultiScaleRoiAlign {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// Samples of an output element along each axis; 0 or below for the adaptive number.
    pub sampling_ratio: i64 = -1,
    /// The side of a square box that belongs to the canonical level.
    pub canonical_scale: f64 = 224.0,
    /// The level of such a box.
    pub canonical_level: i32 = 4,
}
MultiScaleRoiAlignConfig::new(
    RoiAlign::new(output_size).with_sampling_ratio(sampling_ratio).into()
) with canonical_scale, canonical_level
}
