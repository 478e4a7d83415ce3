//! torchvision's `roi_align`, `roi_pool`, `ps_roi_align`, `ps_roi_pool` and `MultiScaleRoIAlign`, as release 0.26
//! computes them.
//!
//! Its boxes `[K, 5]` with the batch index first are
//! [`Rois::from_index_first`](crate::Rois::from_index_first), its list of boxes an image is
//! [`Rois::from_images`](crate::Rois::from_images).

use burn::config::Config;

use crate::ops::{MultiScaleRoiAlignConfig, PsRoiAlignConfig, PsRoiPoolConfig, RoiAlignConfig, RoiPoolConfig};

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
#[derive(Config, Debug, PartialEq)]
pub struct RoiAlign {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    #[config(default = 1.0)]
    pub spatial_scale: f64,
    /// Samples of an output element along each axis; 0 or below for the adaptive number.
    #[config(default = "-1")]
    pub sampling_ratio: i64,
    /// Whether coordinates mean the corners of pixels, whose centres then lie at halves. Without it a
    /// region is shifted by half a pixel, and at least one pixel long.
    #[config(default = false)]
    pub aligned: bool,
}

impl From<RoiAlign> for RoiAlignConfig {
    fn from(attributes: RoiAlign) -> Self {
        RoiAlignConfig::new(attributes.output_size)
            .with_spatial_scale(attributes.spatial_scale)
            .with_sampling_ratio(attributes.sampling_ratio.max(0) as usize)
            .with_aligned(attributes.aligned)
    }
}

/// The arguments of `torchvision.ops.roi_pool`.
#[derive(Config, Debug, PartialEq)]
pub struct RoiPool {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    #[config(default = 1.0)]
    pub spatial_scale: f64,
}

impl From<RoiPool> for RoiPoolConfig {
    fn from(attributes: RoiPool) -> Self {
        RoiPoolConfig::new(attributes.output_size).with_spatial_scale(attributes.spatial_scale)
    }
}

/// The arguments of `torchvision.ops.ps_roi_align`, which is always aligned.
#[derive(Config, Debug, PartialEq)]
pub struct PsRoiAlign {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    #[config(default = 1.0)]
    pub spatial_scale: f64,
    /// Samples of an output element along each axis; 0 or below for the adaptive number.
    #[config(default = "-1")]
    pub sampling_ratio: i64,
}

impl From<PsRoiAlign> for PsRoiAlignConfig {
    fn from(attributes: PsRoiAlign) -> Self {
        PsRoiAlignConfig::new(attributes.output_size)
            .with_spatial_scale(attributes.spatial_scale)
            .with_sampling_ratio(attributes.sampling_ratio.max(0) as usize)
    }
}

/// The arguments of `torchvision.ops.ps_roi_pool`.
#[derive(Config, Debug, PartialEq)]
pub struct PsRoiPool {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    #[config(default = 1.0)]
    pub spatial_scale: f64,
    /// Whether the gradient of features is torchvision's as well: its bins reach the last row and the last column of
    /// the map, and those of the operator end before them.
    #[config(default = false)]
    pub torchvision_gradient: bool,
}

impl From<PsRoiPool> for PsRoiPoolConfig {
    fn from(attributes: PsRoiPool) -> Self {
        PsRoiPoolConfig::new(attributes.output_size)
            .with_spatial_scale(attributes.spatial_scale)
            .with_gradient_reaches_last_pixel(attributes.torchvision_gradient)
    }
}

/// The arguments of `torchvision.ops.MultiScaleRoIAlign`, which is never aligned.
#[derive(Config, Debug, PartialEq)]
pub struct MultiScaleRoiAlign {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// Samples of an output element along each axis; 0 or below for the adaptive number.
    #[config(default = "-1")]
    pub sampling_ratio: i64,
    /// The side of a square box that belongs to the canonical level.
    #[config(default = 224.0)]
    pub canonical_scale: f64,
    /// The level of such a box.
    #[config(default = 4)]
    pub canonical_level: i32,
}

impl From<MultiScaleRoiAlign> for MultiScaleRoiAlignConfig {
    fn from(attributes: MultiScaleRoiAlign) -> Self {
        let roi_align: RoiAlignConfig = RoiAlign::new(attributes.output_size)
            .with_sampling_ratio(attributes.sampling_ratio)
            .into();
        MultiScaleRoiAlignConfig::new(roi_align)
            .with_canonical_scale(attributes.canonical_scale)
            .with_canonical_level(attributes.canonical_level)
    }
}
