//! mmcv's `roi_align`, `roi_pool`, `roi_align_rotated`, `riroi_align_rotated`, `deform_roi_pool` and `prroi_pool`, by
//! the rules of the CUDA kernels of release 2.2. `prroi_pool` is the same as in its authors' repository
//! `vacancy/PreciseRoIPooling`.
//!
//! For boxes with the batch index first, `[K, 6]` or `[K, 5]`, use
//! [`RotatedRois::from_index_first`](crate::RotatedRois::from_index_first) or
//! [`Rois::from_index_first`](crate::Rois::from_index_first).

use serde::{Deserialize, Serialize};

use crate::geometry::angle::AngleConvention;
use crate::geometry::options::{BoxRounding, Reduction};
use crate::ops::{
    DeformRoiPoolConfig, MultiScaleRoiAlignConfig, PrRoiPoolConfig, PyramidConfig, RiRoiAlignRotatedConfig,
    RoiAlignConfig, RoiAlignRotatedConfig, RoiPoolConfig,
};

/// The argument `pool_mode` of `roi_align`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PoolMode {
    /// The mean of the samples.
    Avg,
    /// The largest sample. A region without samples returns 0 here, and -10000 in mmcv.
    Max,
}

framework! {
/// The arguments of `roi_align`.
///
/// ```
/// use burn_roi::{Reduction, RoiAlignConfig, mmcv};
///
/// let config: RoiAlignConfig = mmcv::RoiAlign::new([7, 7]).with_pool_mode(mmcv::PoolMode::Max).into();
/// assert_eq!(config.reduction, Reduction::Max);
/// ```
pub struct RoiAlign {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32 = 1.0,
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize = 0,
    /// How the samples of an output element become one value.
    pub pool_mode: PoolMode = PoolMode::Avg,
    /// As in [`RoiAlignConfig::with_aligned`](crate::RoiAlignConfig::with_aligned).
    pub aligned: bool = true,
}
RoiAlignConfig::new(output_size) with spatial_scale, sampling_ratio, aligned,
    reduction(match pool_mode {
        PoolMode::Avg => Reduction::Average,
        PoolMode::Max => Reduction::Max,
    })
}

framework! {
/// The attributes of `mmdeploy::MMCVMultiLevelRoiAlign`, without `roi_scale_factor`, which enlarges boxes.
///
/// ```
/// use burn_roi::{MultiScaleRoiAlignConfig, mmcv};
///
/// let attributes = mmcv::MultiLevelRoiAlign::new(vec![4.0, 8.0]);
/// assert_eq!(attributes.scales(), [0.25, 0.125]);
/// let config: MultiScaleRoiAlignConfig = attributes.into();
/// assert_eq!(config.canonical_scale, 56.0);
/// ```
pub struct MultiLevelRoiAlign {
    /// For each level, how many pixels of the image a pixel of its map stands for.
    pub featmap_strides: Vec<f32>,
    /// Height and width of the output.
    pub output_size: [usize; 2] = [7, 7],
    /// How the samples of an output element become one value.
    pub pool_mode: PoolMode = PoolMode::Max,
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize = 2,
    /// A box with sides below twice this belongs to the first level.
    pub finest_scale: usize = 56,
    /// As in [`RoiAlignConfig::with_aligned`](crate::RoiAlignConfig::with_aligned).
    pub aligned: bool = false,
}
MultiScaleRoiAlignConfig::new(
    RoiAlign::new(output_size)
        .with_sampling_ratio(sampling_ratio)
        .with_pool_mode(pool_mode)
        .with_aligned(aligned)
        .into()
) with canonical_scale(finest_scale as f64),
    canonical_level(0),
    ratio_epsilon(1e-6),
    level_epsilon(0.0),
    first_level(Some(0))
}

impl MultiLevelRoiAlign {
    /// From box coordinates to pixels of each map.
    pub fn scales(&self) -> Vec<f64> {
        scales_of(&self.featmap_strides)
    }
}

framework! {
/// The arguments of `roi_align_rotated`.
///
/// ```
/// use burn_roi::{AngleConvention, RoiAlignRotatedConfig, mmcv};
///
/// let config: RoiAlignRotatedConfig = mmcv::RoiAlignRotated::new([7, 7], 0.25).with_clockwise(true).into();
/// assert_eq!(config.angle, AngleConvention::RADIANS_CLOCKWISE);
/// ```
pub struct RoiAlignRotated {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32,
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize = 0,
    /// As in [`RoiAlignConfig::with_aligned`](crate::RoiAlignConfig::with_aligned).
    pub aligned: bool = true,
    /// Whether a positive angle turns a box clockwise on the screen.
    pub clockwise: bool = false,
}
RoiAlignRotatedConfig::new(output_size) with spatial_scale, sampling_ratio, aligned,
    angle(AngleConvention::radians(clockwise))
}

framework! {
/// The attributes of `mmdeploy::MMCVMultiLevelRotatedRoiAlign`.
///
/// ```
/// use burn_roi::{RoiAlignRotatedConfig, mmcv};
///
/// let attributes = mmcv::MultiLevelRotatedRoiAlign::new(vec![4.0, 8.0]).with_roi_scale_factor(1.5);
/// assert_eq!(attributes.pyramid().canonical_scale, 84.0);
/// let config: RoiAlignRotatedConfig = attributes.into();
/// assert_eq!(config.minimum_length, Some(1.0));
/// ```
pub struct MultiLevelRotatedRoiAlign {
    /// For each level, how many pixels of the image a pixel of its map stands for.
    pub featmap_strides: Vec<f32>,
    /// Height and width of the output.
    pub output_size: [usize; 2] = [7, 7],
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize = 2,
    /// A box with sides below twice this belongs to the first level.
    pub finest_scale: usize = 56,
    /// The factor by which the caller has multiplied the widths and heights of all boxes. The level follows from the
    /// size before that.
    pub roi_scale_factor: f32 = 1.0,
    /// Whether 0.5 is subtracted from scaled coordinates. A region is at least one pixel long either way.
    pub aligned: bool = false,
    /// Whether a positive angle turns a box clockwise on the screen.
    pub clockwise: bool = false,
}
RoiAlignRotatedConfig::new(output_size) with sampling_ratio, aligned,
    minimum_length(Some(1.0)),
    angle(AngleConvention::radians(clockwise))
}

impl MultiLevelRotatedRoiAlign {
    /// From box coordinates to pixels of each map.
    pub fn scales(&self) -> Vec<f64> {
        scales_of(&self.featmap_strides)
    }

    /// The rule that chooses a box's level.
    pub fn pyramid(&self) -> PyramidConfig {
        PyramidConfig::new()
            .with_canonical_scale(self.finest_scale as f64 * f64::from(self.roi_scale_factor))
            .with_canonical_level(0)
            .with_ratio_epsilon(1e-6)
            .with_level_epsilon(0.0)
            .with_first_level(Some(0))
    }
}

fn scales_of(strides: &[f32]) -> Vec<f64> {
    strides.iter().map(|stride| (1.0 / stride).into()).collect()
}

framework! {
/// The arguments of `riroi_align_rotated`.
///
/// ```
/// use burn_roi::{RiRoiAlignRotatedConfig, mmcv};
///
/// let config: RiRoiAlignRotatedConfig = mmcv::RiRoiAlignRotated::new([7, 7], 0.25).with_num_samples(2).into();
/// assert_eq!(config.orientations, 8);
/// ```
pub struct RiRoiAlignRotated {
    /// Height and width of the output.
    pub out_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32,
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub num_samples: usize = 0,
    /// How many orientation channels there are.
    pub num_orientations: usize = 8,
    /// Whether a positive angle turns a box clockwise on the screen.
    pub clockwise: bool = false,
}
RiRoiAlignRotatedConfig::new(out_size) with spatial_scale, clockwise,
    sampling_ratio(num_samples),
    orientations(num_orientations)
}

framework! {
/// The arguments of `deform_roi_pool`.
///
/// ```
/// use burn_roi::{DeformRoiPoolConfig, mmcv};
///
/// let config: DeformRoiPoolConfig = mmcv::DeformRoiPool::new([7, 7]).with_spatial_scale(0.25).into();
/// assert_eq!(config.spatial_scale, 0.25);
/// ```
pub struct DeformRoiPool {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32 = 1.0,
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize = 0,
    /// Samples move by `gamma * region size * offset`.
    pub gamma: f32 = 0.1,
}
DeformRoiPoolConfig::new(output_size) with spatial_scale, sampling_ratio, gamma
}

framework! {
/// The arguments of `mmcv.ops.RoIPool`. It rounds no coordinates: a region reaches from `a * spatial_scale` to
/// `(b + 1) * spatial_scale`, and a region without length returns 0.
///
/// ```
/// use burn_roi::{BoxRounding, RoiPoolConfig, mmcv};
///
/// let config: RoiPoolConfig = mmcv::RoiPool::new([7, 7]).with_spatial_scale(0.0625).into();
/// assert_eq!(config.rounding, BoxRounding::Never);
/// ```
pub struct RoiPool {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32 = 1.0,
}
RoiPoolConfig::new(output_size) with spatial_scale, rounding(BoxRounding::Never), minimum_length(None)
}

framework! {
/// The arguments of `mmcv.ops.prroi_pool`.
///
/// ```
/// use burn_roi::{PrRoiPoolConfig, mmcv};
///
/// let config: PrRoiPoolConfig = mmcv::PrRoiPool::new([7, 7]).with_spatial_scale(0.0625).into();
/// assert_eq!(config.spatial_scale, 0.0625);
/// ```
pub struct PrRoiPool {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32 = 1.0,
}
PrRoiPoolConfig::new(output_size) with spatial_scale
}
