//! OpenVINO `ROIAlign`, versions 3 and 9, `ROIAlignRotated`, versions 14 and 15, `ROIPooling-2`, `PSROIPooling-1`,
//! `DeformablePSROIPooling-1` and `ExperimentalDetectronROIFeatureExtractor-6`, as the CPU device of release 2026.4
//! computes them.
//!
//! For the boxes `[K, 5]` of the pooling operators, with the batch index first, use
//! [`Rois::from_index_first`](crate::Rois::from_index_first). Two things differ:
//!
//! - In a half-pixel mode of `ROIAlign` with `sampling_ratio` 0, an empty or an inverted region has no sample, and this
//!   crate returns 0, as torchvision does. OpenVINO returns NaN or uninitialized memory.
//! - OpenVINO's pooling operators stop at a batch index of -1: this region and all following ones return 0. Here -1 is
//!   an invalid index, and the following regions are pooled.

pub use super::openvino_points::{DeformablePsRoiPooling1, PsRoiPoolingBilinear, RoiAlignRotated15};

use serde::{Deserialize, Serialize};

use crate::geometry::options::{Arithmetic, BinDivision, BoxFormat, BoxRounding, MaximumFrom, Reduction};
use crate::ops::{CropAndResizeConfig, MultiScaleRoiAlignConfig, PsRoiPoolConfig, RoiAlignConfig, RoiPoolConfig};

/// The attribute `mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The mean of the samples.
    Avg,
    /// The largest sample, and at least 0.
    Max,
}

/// The attribute `aligned_mode` of version 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlignedMode {
    /// `x * spatial_scale`, and regions are at least one pixel long.
    Asymmetric,
    /// `x * spatial_scale - 0.5`.
    HalfPixelForNn,
    /// `(x + 0.5) * spatial_scale - 0.5`.
    HalfPixel,
}

framework! {
/// The attributes of `ROIAlign-9`.
///
/// ```
/// use burn_roi::{RoiAlignConfig, openvino};
///
/// let config: RoiAlignConfig = openvino::RoiAlign9::new(6, 6, 2, 1.0 / 16.0, openvino::Mode::Avg)
///     .with_aligned_mode(openvino::AlignedMode::HalfPixel)
///     .into();
/// assert_eq!(config.box_offset, 0.5);
/// ```
pub struct RoiAlign9 {
    /// Height of the output.
    pub pooled_h: usize,
    /// Width of the output.
    pub pooled_w: usize,
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize,
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32,
    /// How the samples of an output element become one value.
    pub mode: Mode,
    /// How coordinates map to pixels.
    pub aligned_mode: AlignedMode = AlignedMode::Asymmetric,
}
RoiAlignConfig::new([pooled_h, pooled_w]) with spatial_scale, sampling_ratio,
    aligned(aligned_mode != AlignedMode::Asymmetric),
    box_offset(if aligned_mode == AlignedMode::HalfPixel { 0.5 } else { 0.0 }),
    arithmetic(Arithmetic::FromElementsBySteps),
    reduction(match mode {
        Mode::Avg => Reduction::Average,
        Mode::Max => Reduction::MaxFromZero,
    })
}

framework! {
/// The attributes of `ROIAlign-3`, which is version 9 with `aligned_mode` asymmetric.
///
/// ```
/// use burn_roi::{RoiAlignConfig, openvino};
///
/// let config: RoiAlignConfig = openvino::RoiAlign3::new(6, 6, 2, 1.0 / 16.0, openvino::Mode::Avg).into();
/// assert_eq!(config.box_offset, 0.0);
/// ```
pub struct RoiAlign3 {
    /// Height of the output.
    pub pooled_h: usize,
    /// Width of the output.
    pub pooled_w: usize,
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize,
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32,
    /// How the samples of an output element become one value.
    pub mode: Mode,
}
RoiAlignConfig: RoiAlign9::new(pooled_h, pooled_w, sampling_ratio, spatial_scale, mode).into()
}

framework! {
/// The attributes of `ExperimentalDetectronROIFeatureExtractor-6`, for a batch of one image. The maps are the levels 0,
/// 1, 2, … in their order, a box of 224 x 224 belongs to level 2, and a box without area returns 0.
///
/// ```
/// use burn_roi::{MultiScaleRoiAlignConfig, openvino};
///
/// let attributes = openvino::RoiFeatureExtractor6::new(7, 2, vec![4, 8, 16, 32]);
/// assert_eq!(attributes.scales(), [0.25, 0.125, 0.0625, 0.03125]);
/// let config: MultiScaleRoiAlignConfig = attributes.into();
/// assert_eq!(config.first_level, Some(0));
/// ```
pub struct RoiFeatureExtractor6 {
    /// Height and width of the output.
    pub output_size: usize,
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize,
    /// For each level, how many pixels of the image a pixel of its map stands for.
    pub pyramid_scales: Vec<u32>,
    /// Whether half a pixel is subtracted from scaled coordinates. A region is at least one pixel long either way.
    pub aligned: bool = false,
}
MultiScaleRoiAlignConfig::new(
    RoiAlignConfig::new([output_size; 2])
        .with_sampling_ratio(sampling_ratio)
        .with_aligned(aligned)
        .with_minimum_length(Some(1.0))
) with canonical_scale(224.0),
    canonical_level(2),
    ratio_epsilon(1e-6),
    level_epsilon(0.0),
    first_level(Some(0)),
    pools_empty(false)
}

impl RoiFeatureExtractor6 {
    /// From box coordinates to pixels of each map.
    pub fn scales(&self) -> Vec<f64> {
        let scale = |&pixels: &u32| (1.0 / pixels as f32).into();
        self.pyramid_scales.iter().map(scale).collect()
    }
}

framework! {
/// The attributes of `ROIPooling-2` with `method` max.
///
/// Bins are divided with whole numbers, as on the CPU device. OpenVINO's reference implementation rounds the length of
/// a bin to a float.
///
/// ```
/// use burn_roi::{BinDivision, RoiPoolConfig, openvino};
///
/// let config: RoiPoolConfig = openvino::RoiPoolingMax::new(7, 7, 0.0625).into();
/// assert_eq!(config.division, BinDivision::Whole);
/// ```
pub struct RoiPoolingMax {
    /// Height of the output.
    pub pooled_h: usize,
    /// Width of the output.
    pub pooled_w: usize,
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32,
}
RoiPoolConfig::new([pooled_h, pooled_w]) with spatial_scale,
    division(BinDivision::Whole),
    maximum_from(MaximumFrom::NegativeInfinity)
}

framework! {
/// The attributes of `ROIPooling-2` with `method` bilinear. Boxes are `[x1, y1, x2, y2]`, normalized: 0 is the centre
/// of the first pixel and 1 the centre of the last. The attribute `spatial_scale` is not used.
///
/// ```
/// use burn_roi::{BoxFormat, CropAndResizeConfig, openvino};
///
/// let config: CropAndResizeConfig = openvino::RoiPoolingBilinear::new(7, 7).into();
/// assert_eq!(config.box_format, BoxFormat::Xyxy);
/// ```
pub struct RoiPoolingBilinear {
    /// Height of the output.
    pub pooled_h: usize,
    /// Width of the output.
    pub pooled_w: usize,
}
CropAndResizeConfig::new([pooled_h, pooled_w]) with box_format(BoxFormat::Xyxy), ends_exactly(true)
}

framework! {
/// The attributes of `PSROIPooling-1` with `mode` average. The attribute `output_dim` is not needed: it is the number
/// of channels of the features divided by `group_size * group_size`.
///
/// A bin beyond the map returns 0, as on the CPU device.
///
/// ```
/// use burn_roi::{PsRoiPoolConfig, openvino};
///
/// let config: PsRoiPoolConfig = openvino::PsRoiPoolingAverage::new(7, 1.0 / 16.0).into();
/// assert_eq!(config.output_size, [7, 7]);
/// ```
pub struct PsRoiPoolingAverage {
    /// Height and width of the output.
    pub group_size: usize,
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32,
}
PsRoiPoolConfig::new([group_size; 2]) with spatial_scale,
    rounding(BoxRounding::BeforeScaling),
    // Added before it is rounded, where Paddle adds it after: they differ at 0.49999997.
    end_offset(1.0),
    minimum_length(Some(0.1)),
    reaches_last_pixel(true)
}
