//! detectron2's `ROIPooler` and `ROIAlignRotated`.
//!
//! For its `ROIAlign`, use [`RoiAlignConfig`] `.with_aligned(true)`, the default of that class.

use crate::geometry::angle::AngleConvention;
use crate::ops::{MultiScaleRoiAlignConfig, PyramidConfig, RoiAlignConfig, RoiAlignRotatedConfig};

framework! {
/// The arguments of `detectron2.modeling.poolers.ROIPooler`, but for `scales`, which
/// [`multi_scale_roi_align`](crate::multi_scale_roi_align()) takes.
///
/// ```
/// use burn_roi::{MultiScaleRoiAlignConfig, detectron2};
///
/// let config: MultiScaleRoiAlignConfig = detectron2::RoiPooler::new([7, 7]).into();
/// assert_eq!(config.roi_align.input_pixel_offset, 0.5);
/// ```
pub struct RoiPooler {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize = 0,
    /// What pools a region.
    pub pooler_type: PoolerType = PoolerType::RoiAlignV2,
    /// The side of a square box that belongs to the canonical level.
    pub canonical_box_size: f64 = 224.0,
    /// The level of such a box.
    pub canonical_level: i32 = 4,
}
MultiScaleRoiAlignConfig::new(
    RoiAlignConfig::new(output_size)
        .with_sampling_ratio(sampling_ratio)
        .with_aligned(pooler_type == PoolerType::RoiAlignV2)
) with canonical_level, canonical_scale(canonical_box_size), ratio_epsilon(1e-8), level_epsilon(0.0)
}

/// What pools a region: those pooler types of detectron2 that are RoiAlign of upright boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum PoolerType {
    /// `"ROIAlign"`: not aligned, as torchvision's default is.
    RoiAlign,
    /// `"ROIAlignV2"`: aligned.
    RoiAlignV2,
}

impl RoiPooler {
    /// The rule that chooses a region's level. With it, [`multi_scale_pool`](crate::multi_scale_pool()) runs the pooler
    /// types `"ROIPool"` and `"ROIAlignRotated"`.
    pub fn pyramid(&self) -> PyramidConfig {
        PyramidConfig::new()
            .with_canonical_scale(self.canonical_box_size)
            .with_canonical_level(self.canonical_level)
            .with_ratio_epsilon(1e-8)
            .with_level_epsilon(0.0)
    }
}

framework! {
/// The arguments of detectron2's `ROIAlignRotated`. Angles are in degrees, and a positive one turns a box
/// counter-clockwise.
///
/// For boxes `[K, 6]` with the batch index first, use
/// [`RotatedRois::from_index_first`](crate::RotatedRois::from_index_first).
///
/// ```
/// use burn_roi::{AngleConvention, RoiAlignRotatedConfig, detectron2};
///
/// let config: RoiAlignRotatedConfig = detectron2::RoiAlignRotated::new([7, 7], 0.25, 2).into();
/// assert_eq!(config.angle, AngleConvention::DEGREES_COUNTER_CLOCKWISE);
/// ```
pub struct RoiAlignRotated {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32,
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize,
}
RoiAlignRotatedConfig::new(output_size) with spatial_scale, sampling_ratio,
    angle(AngleConvention::DEGREES_COUNTER_CLOCKWISE)
}
