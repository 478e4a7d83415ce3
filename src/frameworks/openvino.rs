//! OpenVINO `ROIAlign`, versions 3 and 9, as release 2026.4 computes them.
//!
//! One thing differs: in a half-pixel mode with `sampling_ratio` 0, an empty or an inverted region has
//! no sample, and this crate gives 0, as torchvision does; OpenVINO gives NaN or uninitialized memory.

use burn::config::Config;
use serde::{Deserialize, Serialize};

use crate::geometry::operator::{Arithmetic, Reduction};
use crate::ops::RoiAlignConfig;

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
#[derive(Config, Debug, PartialEq)]
pub struct RoiAlign9 {
    /// Height of the output.
    pub pooled_h: usize,
    /// Width of the output.
    pub pooled_w: usize,
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize,
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32,
    /// How samples become one number.
    pub mode: Mode,
    /// How coordinates map to pixels.
    #[config(default = "AlignedMode::Asymmetric")]
    pub aligned_mode: AlignedMode,
}

impl From<RoiAlign9> for RoiAlignConfig {
    fn from(attributes: RoiAlign9) -> Self {
        let box_offset = match attributes.aligned_mode {
            AlignedMode::HalfPixel => 0.5,
            AlignedMode::Asymmetric | AlignedMode::HalfPixelForNn => 0.0,
        };
        RoiAlignConfig::new([attributes.pooled_h, attributes.pooled_w])
            .with_spatial_scale(attributes.spatial_scale.into())
            .with_sampling_ratio(attributes.sampling_ratio)
            .with_aligned(attributes.aligned_mode != AlignedMode::Asymmetric)
            .with_box_offset(box_offset)
            .with_arithmetic(Arithmetic::FromElementsBySteps)
            .with_reduction(match attributes.mode {
                Mode::Avg => Reduction::Average,
                Mode::Max => Reduction::MaxFromZero,
            })
    }
}

/// The attributes of `ROIAlign-3`, which is version 9 with `aligned_mode` asymmetric.
#[derive(Config, Debug, PartialEq)]
pub struct RoiAlign3 {
    /// Height of the output.
    pub pooled_h: usize,
    /// Width of the output.
    pub pooled_w: usize,
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize,
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32,
    /// How samples become one number.
    pub mode: Mode,
}

impl From<RoiAlign3> for RoiAlignConfig {
    fn from(attributes: RoiAlign3) -> Self {
        RoiAlign9::new(
            attributes.pooled_h,
            attributes.pooled_w,
            attributes.sampling_ratio,
            attributes.spatial_scale,
            attributes.mode,
        )
        .into()
    }
}
