//! MindSpore's `ops.ROIAlign`, as the CPU kernel of release 2.10 computes it. Its kernels for other devices were not
//! compared.
//!
//! For boxes `[K, 5]` with the batch index first, use [`Rois::from_index_first`](crate::Rois::from_index_first).

use serde::{Deserialize, Serialize};

use crate::geometry::options::Sampling;
use crate::ops::RoiAlignConfig;

framework! {
/// The arguments of `mindspore.ops.ROIAlign`.
///
/// If `sample_num` is 0 or below, an element has as many samples as pixels, rounded down. An element that is shorter
/// than a pixel then returns 0 here, and NaN in MindSpore. If `roi_end_mode` is 0, MindSpore's gradient of features is
/// not the derivative of its forward pass; here it is. MindSpore writes no output for a box whose `x1` and `x2` are 0;
/// here such a box is pooled as others are.
///
/// ```
/// use burn_roi::{RoiAlignConfig, mindspore};
///
/// let config: RoiAlignConfig = mindspore::RoiAlign::new(7, 7, 0.25).into();
/// assert_eq!(config.end_offset, 1.0);
/// ```
pub struct RoiAlign {
    /// Height of the output.
    pub pooled_height: usize,
    /// Width of the output.
    pub pooled_width: usize,
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32,
    /// Samples of an output element along each axis; 0 or below for the adaptive number.
    pub sample_num: i64 = 2,
    /// Where a region ends.
    pub roi_end_mode: RoiEndMode = RoiEndMode::Inclusive,
}
RoiAlignConfig::new([pooled_height, pooled_width]) with spatial_scale,
    sampling(match sample_num.max(0) {
        0 => Sampling::AdaptiveFloor,
        samples => Sampling::Fixed(samples as usize),
    }),
    end_offset(if roi_end_mode == RoiEndMode::Inclusive { 1.0 } else { 0.0 }),
    minimum_length((roi_end_mode == RoiEndMode::Exclusive).then_some(1.0))
}

/// Where a region ends: the values of `roi_end_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RoiEndMode {
    /// 0: at `x2 * spatial_scale`. A region is at least a pixel long.
    Exclusive,
    /// 1: at `(x2 + 1) * spatial_scale`.
    Inclusive,
}
