//! Paddle's `roi_align`, `roi_pool` and `psroi_pool` of `paddle.vision.ops`, as the CPU kernels of release 3.3 compute
//! them.
//!
//! For boxes `[K, 4]` with `boxes_num`, split the boxes by image and use
//! [`Rois::from_images`](crate::Rois::from_images).

use crate::geometry::options::{Arithmetic, BoxRounding, MaximumFrom};
use crate::ops::{PsRoiPoolConfig, RoiAlignConfig, RoiPoolConfig};

framework! {
/// The arguments of `paddle.vision.ops.roi_align`.
///
/// With `aligned` and adaptive sampling, an empty region returns 0 here and NaN in Paddle. An inverted region returns 0
/// here, and ends Paddle's process.
///
/// In Paddle's gradient of features, a region is at least a pixel long even with `aligned`, and positions are computed
/// in another order than in the forward pass. Here it is the derivative of the forward pass.
///
/// ```
/// use burn_roi::{Arithmetic, RoiAlignConfig, paddle};
///
/// let config: RoiAlignConfig = paddle::RoiAlign::new([7, 7]).with_spatial_scale(0.0625).into();
/// assert_eq!(config.arithmetic, Arithmetic::FromRegionInElements);
/// ```
pub struct RoiAlign {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32 = 1.0,
    /// Samples of an output element along each axis; 0 or below for the adaptive number.
    pub sampling_ratio: i64 = -1,
    /// As in [`RoiAlignConfig::with_aligned`](crate::RoiAlignConfig::with_aligned).
    pub aligned: bool = true,
}
RoiAlignConfig::new(output_size) with spatial_scale, sampling_ratio(sampling_ratio.max(0) as usize), aligned,
    arithmetic(Arithmetic::FromRegionInElements)
}

framework! {
/// The arguments of `paddle.vision.ops.roi_pool`. For features of f64, Paddle divides bins in f32, and this crate
/// in f64.
///
/// ```
/// use burn_roi::{MaximumFrom, RoiPoolConfig, paddle};
///
/// let config: RoiPoolConfig = paddle::RoiPool::new([7, 7]).with_spatial_scale(0.0625).into();
/// assert_eq!(config.maximum_from, MaximumFrom::Least);
/// ```
pub struct RoiPool {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32 = 1.0,
}
RoiPoolConfig::new(output_size) with spatial_scale, maximum_from(MaximumFrom::Least)
}

framework! {
/// The arguments of `paddle.vision.ops.psroi_pool`.
///
/// ```
/// use burn_roi::{PsRoiPoolConfig, paddle};
///
/// let config: PsRoiPoolConfig = paddle::PsRoiPool::new([7, 7]).with_spatial_scale(0.0625).into();
/// assert_eq!(config.minimum_length, Some(0.1));
/// ```
pub struct PsRoiPool {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32 = 1.0,
}
PsRoiPoolConfig::new(output_size) with spatial_scale,
    rounding(BoxRounding::BeforeScaling),
    inclusive_end(true),
    minimum_length(Some(0.1)),
    reaches_last_pixel(true)
}
