//! `riroi_align_rotated`: rotated RoiAlign whose orientation channels turn with the box.

use burn::tensor::{DType, FloatDType, Int, Tensor};

use super::operator_config::Pools;
use super::{Pool, RoiAlignRotatedConfig, call, options, try_roi_align_rotated};
use crate::config::config;
use crate::error::{RoiError, or_panic};
use crate::geometry::angle::AngleConvention;
use crate::geometry::options::Sampling;
use crate::regions::{RegionTable, RotatedRois};

config! {
/// What [`riroi_align_rotated`] computes. The defaults are those of mmcv's `riroi_align_rotated`, which
/// [`mmcv::RiRoiAlignRotated`](crate::mmcv::RiRoiAlignRotated) has under its own names.
///
/// ```
/// use burn_roi::RiRoiAlignRotatedConfig;
///
/// let config = RiRoiAlignRotatedConfig::new([7, 7]).with_spatial_scale(0.25).with_sampling_ratio(2);
/// assert_eq!(config.orientations, 8);
/// ```
#[derive(Debug, PartialEq)]
pub struct RiRoiAlignRotatedConfig {
    /// Height P and width Q of the output, 1 to 32767.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f64 = 1.0,
    /// How many samples an output element takes along each axis: a fixed number, or the adaptive one, which is at most
    /// 65,536 here.
    pub sampling: Sampling = Sampling::Adaptive,
    /// The number O of orientation channels, 1 to 1024.
    pub orientations: usize = 8,
    /// Whether a positive angle turns a box clockwise on the screen, where y points down. This option does not change
    /// how orientation channels are shifted.
    pub clockwise: bool = false,
}
}

impl RiRoiAlignRotatedConfig {
    /// Takes `sampling_ratio` samples an output element along each axis; 0 for the adaptive number.
    pub fn with_sampling_ratio(self, sampling_ratio: usize) -> Self {
        self.with_sampling(Sampling::of_ratio(sampling_ratio))
    }

    /// Creates the module.
    pub fn init(&self) -> RiRoiAlignRotated {
        Pool::of(self)
    }
}

/// Samples rotated regions of feature maps with orientation channels, which turn with the box: `[N, C * O, H, W]` and K
/// regions to `[K, C * O, P, Q]`.
///
/// The samples are those of [`roi_align_rotated`](crate::roi_align_rotated()) without `aligned`. With
/// `u = angle * O / 2π` and `w = floor(u)`, orientation `o` of the output is `(1 - (u - w))` times orientation `o - w`
/// of what is sampled, plus `u - w` times orientation `o - w + 1`, both modulo O. As in ReDet, the output
/// jumps at whole `u`: it approaches orientation `o - w + 1`, but continues with `o - w - 1`.
///
/// - `features`: `[N, C * O, H, W]`, f32, f16 or bf16; f64 on Flex and NdArray.
/// - `rois`: boxes `[center x, center y, width, height, angle]`, the angle in radians, of the features' dtype, or
///   of f32 for half features, and on their device.
/// - Returns `[K, C * O, P, Q]` in the features' dtype. Features of f16 and bf16 are converted to f32 first, so that
///   the result is rounded once.
///
/// On Flex and NdArray a box or an angle that is not finite and a batch index out of range are errors. GPUs do not read
/// them: there such a region returns 0, and [`RotatedRois::validate`] finds it.
///
/// The rule is that of ReDet (Han et al., 2021), as mmcv 2.2 computes it. mmcv reads beyond its features for angles
/// below -2π; here they count modulo a turn.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{RiRoiAlignRotatedConfig, RotatedRois, riroi_align_rotated};
///
/// let device = Device::default();
/// let features = Tensor::<4>::ones([1, 32 * 8, 50, 76], &device);
/// let boxes = Tensor::<2>::from_floats([[300.0, 200.0, 120.0, 60.0, 0.5]], &device);
/// let config = RiRoiAlignRotatedConfig::new([7, 7]).with_spatial_scale(1.0 / 16.0);
/// let pooled = riroi_align_rotated(features, &RotatedRois::from_images(vec![boxes]), config);
/// assert_eq!(pooled.dims(), [1, 256, 7, 7]);
/// ```
///
/// # Panics
///
/// If [`try_riroi_align_rotated`] returns an error, with its text.
pub fn riroi_align_rotated(
    features: Tensor<4>,
    rois: &RotatedRois,
    config: impl Into<RiRoiAlignRotatedConfig>,
) -> Tensor<4> {
    or_panic(try_riroi_align_rotated(features, rois, config))
}

/// [`riroi_align_rotated`] for arguments that may be wrong.
///
/// # Errors
///
/// - [`RoiError::Option`]: 0 or more than 1024 orientations.
/// - [`RoiError::ChannelGroups`]: the features' channels are no multiple of the orientations.
/// - All errors of [`try_roi_align_rotated`], for the same reasons.
pub fn try_riroi_align_rotated(
    features: Tensor<4>,
    rois: &RotatedRois,
    config: impl Into<RiRoiAlignRotatedConfig>,
) -> Result<Tensor<4>, RoiError> {
    let config = config.into();
    let orientations = config.orientations;
    options::count("orientations", orientations)?;
    let channels = features.dims()[1];
    if !channels.is_multiple_of(orientations) {
        return Err(RoiError::ChannelGroups {
            channels,
            divisor: orientations,
            of: "orientation",
        });
    }
    let upright = RoiAlignRotatedConfig::new(config.output_size)
        .with_spatial_scale(config.spatial_scale)
        .with_sampling(config.sampling)
        .with_aligned(false)
        .with_angle(AngleConvention::radians(config.clockwise));
    let dtype = features.dtype();
    if !matches!(dtype, DType::F16 | DType::BF16) {
        return Ok(turn_channels(
            try_roi_align_rotated(features, rois, upright)?,
            rois.boxes(),
            orientations,
        ));
    }
    // Checked in their own dtype: what a device does not pool is an error, even if it converts it.
    call::check_tensors(&features, rois.regions())?;
    let boxes = rois.boxes();
    let wide = RotatedRois::try_new(boxes.cast(FloatDType::F32), rois.batch_indices())?;
    let pooled = try_roi_align_rotated(features.cast(FloatDType::F32), &wide, upright)?;
    Ok(turn_channels(pooled, wide.boxes(), orientations).cast(FloatDType::from(dtype)))
}

/// Mixes the orientation channels of what was sampled, `[K, C * O, P, Q]`.
fn turn_channels(pooled: Tensor<4>, boxes: Tensor<2>, orientations: usize) -> Tensor<4> {
    let [count, channels, rows, columns] = pooled.dims();
    if pooled.shape().num_elements() == 0 {
        return pooled;
    }
    let angles = boxes.slice([0..count, 4..5]);
    // A NaN angle counts as invalid: the samples of its region are all 0. An angle above 1e30 has no bits left for its
    // fraction of a turn.
    let known = angles.clone().abs().lower_elem(1e30);
    let angles = angles.mask_fill(known.bool_not(), 0.0);
    let turns = angles * orientations as f64 / std::f64::consts::TAU;
    let whole = turns.clone().floor();
    let fraction = (turns - whole.clone()).reshape([count, 1, 1, 1]);
    // Held within the orientations, since the remainder of a large number may be rounded up to O.
    let whole = whole
        .remainder_scalar(orientations as f64)
        .clamp(0.0, (orientations - 1) as f64)
        .int();
    let device = pooled.device();
    let numbers = Tensor::<1, Int>::arange(0..orientations as i64, &device).reshape([1, orientations]);
    let first = (numbers - whole + orientations as i64).remainder_scalar(orientations as i64);
    let next = (first.clone() + 1).remainder_scalar(orientations as i64);
    let rest = pooled.reshape([count * channels, rows * columns]);
    let selected = |orientation: Tensor<2, Int>| {
        let groups = Tensor::<1, Int>::arange(0..(count * channels / orientations) as i64, &device);
        let groups = (groups * orientations as i64).reshape([count, channels / orientations, 1]);
        let rows_of = orientation.reshape([count, 1, orientations]) + groups;
        let chosen = rest.clone().select(0, rows_of.reshape([count * channels]));
        chosen.reshape([count, channels, rows, columns])
    };
    selected(first) * (-fraction.clone() + 1.0) + selected(next) * fraction
}

impl Pools for RiRoiAlignRotatedConfig {
    type Rois = RotatedRois;

    fn try_pool(&self, features: Tensor<4>, rois: &RotatedRois) -> Result<Tensor<4>, RoiError> {
        try_riroi_align_rotated(features, rois, self.clone())
    }
}

/// [`riroi_align_rotated`] as a module. Created by [`RiRoiAlignRotatedConfig::init`].
pub type RiRoiAlignRotated = Pool<RiRoiAlignRotatedConfig>;
