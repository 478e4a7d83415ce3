//! MXNet's `contrib.ROIAlign`, as release 1.9 computes it.
//!
//! For boxes `[K, 5]` with the batch index first, use [`Rois::from_index_first`](crate::Rois::from_index_first). Two
//! things differ:
//!
//! - A batch index below 0 is invalid here. MXNet leaves the region's output as it is.
//! - With `aligned` and adaptive sampling, an empty region returns 0 here. MXNet refuses it.

use crate::ops::{PsRoiAlignConfig, RoiAlignConfig};

framework! {
/// The attributes of `ROIAlign` without `position_sensitive`.
///
/// ```
/// use burn_roi::{RoiAlignConfig, mxnet};
///
/// let config: RoiAlignConfig = mxnet::RoiAlign::new([7, 7], 0.25).with_sample_ratio(2).into();
/// assert_eq!(config.minimum_length, Some(1.0));
/// ```
pub struct RoiAlign {
    /// Height and width of the output.
    pub pooled_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32,
    /// Samples of an output element along each axis; 0 or below for the adaptive number.
    pub sample_ratio: i64 = -1,
    /// As in [`RoiAlignConfig::with_aligned`](crate::RoiAlignConfig::with_aligned).
    pub aligned: bool = false,
}
RoiAlignConfig::new(pooled_size) with spatial_scale, sampling_ratio(sample_ratio.max(0) as usize), aligned
}

framework! {
/// The attributes of `ROIAlign` with `position_sensitive`.
///
/// ```
/// use burn_roi::{PsRoiAlignConfig, mxnet};
///
/// let config: PsRoiAlignConfig = mxnet::PsRoiAlign::new([7, 7], 0.0625).with_sample_ratio(2).into();
/// assert!(!config.aligned);
/// ```
pub struct PsRoiAlign {
    /// Height and width of the output.
    pub pooled_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32,
    /// Samples of an output element along each axis; 0 or below for the adaptive number.
    pub sample_ratio: i64 = -1,
    /// As in [`RoiAlignConfig::with_aligned`](crate::RoiAlignConfig::with_aligned).
    pub aligned: bool = false,
}
PsRoiAlignConfig::new(pooled_size) with spatial_scale, sampling_ratio(sample_ratio.max(0) as usize), aligned
}
