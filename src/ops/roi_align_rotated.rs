//! `roi_align_rotated`: RoiAlign of boxes that are turned about their centres.

use burn::tensor::Tensor;

use super::operator_config::{Operates, Pools};
use super::points::average;
use super::{Pool, options};
use crate::config::config;
use crate::error::{RoiError, or_panic};
use crate::geometry::angle::AngleConvention;
use crate::geometry::operator::{ChannelMap, RegionOperator};
use crate::geometry::options::{Arithmetic, Bounds, Sampling};
use crate::geometry::point_grid::{Placement, PointGrid};
use crate::regions::RotatedRois;

config! {
/// What [`roi_align_rotated`] computes. The defaults are those of mmcv's `roi_align_rotated`, which
/// [`mmcv::RoiAlignRotated`](crate::mmcv::RoiAlignRotated) has under its own names;
/// [`detectron2::RoiAlignRotated`](crate::detectron2::RoiAlignRotated) is detectron2's, and
/// [`openvino::RoiAlignRotated15`](crate::openvino::RoiAlignRotated15) is OpenVINO's.
///
/// ```
/// use burn_roi::{AngleConvention, RoiAlignRotatedConfig, Sampling};
///
/// let config = RoiAlignRotatedConfig::new([7, 7])
///     .with_spatial_scale(0.25)
///     .with_sampling_ratio(2)
///     .with_angle(AngleConvention::DEGREES_COUNTER_CLOCKWISE);
/// assert_eq!(config.sampling, Sampling::Fixed(2));
/// ```
#[derive(Debug, PartialEq)]
pub struct RoiAlignRotatedConfig {
    /// Height P and width Q of the output, 1 to 32767.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f64 = 1.0,
    /// How many samples an output element takes along each axis: a fixed number, or the adaptive one, which is at most
    /// 65,536 here.
    pub sampling: Sampling = Sampling::Adaptive,
    /// If true, 0.5 is subtracted from scaled coordinates: pixel centres lie at half-integers. If false, nothing is
    /// subtracted, and a region is at least one pixel long.
    pub aligned: bool = true,
    /// What an angle means.
    pub angle: AngleConvention = AngleConvention::RADIANS_COUNTER_CLOCKWISE,
    /// In which order positions are computed.
    #[doc(hidden)]
    pub arithmetic: Arithmetic = Arithmetic::FromElements,
}
}

impl RoiAlignRotatedConfig {
    /// Takes `sampling_ratio` samples an output element along each axis; 0 for the adaptive number.
    pub fn with_sampling_ratio(self, sampling_ratio: usize) -> Self {
        self.with_sampling(Sampling::of_ratio(sampling_ratio))
    }

    /// Creates the module.
    pub fn init(&self) -> RoiAlignRotated {
        Pool::of(self)
    }
}

impl Operates for RoiAlignRotatedConfig {
    type Rois = RotatedRois;

    fn operator(&self, _has_offsets: bool) -> Result<RegionOperator, RoiError> {
        options::output_size("output_size", self.output_size)?;
        options::scale("spatial_scale", self.spatial_scale)?;
        options::fixed_or_adaptive("sampling", self.sampling)?;
        options::from_elements("arithmetic", self.arithmetic)?;
        let grid = PointGrid {
            placement: Placement::Rotated {
                radians: self.angle.in_radians(),
            },
            spatial_scale: self.spatial_scale,
            input_pixel_offset: if self.aligned { 0.5 } else { 0.0 },
            minimum_length: (!self.aligned).then_some(1.0),
            sampling: [self.sampling; 2],
            bounds: Bounds::OnePixelBeyond,
            ignores_out_of_bounds: false,
            arithmetic: self.arithmetic,
        };
        Ok(average(self.output_size, grid, ChannelMap::Same))
    }

    fn spatial_scales(&mut self) -> Vec<&mut f64> {
        vec![&mut self.spatial_scale]
    }
}

/// Samples rotated regions of feature maps: `[N, C, H, W]` and K regions to `[K, C, P, Q]`.
///
/// An output element is the mean of bilinear samples, which lie evenly in the box before it is turned about its centre,
/// as in [`roi_align`](crate::roi_align()). A sample more than a pixel outside of the map counts as 0.
///
/// - `features`: `[N, C, H, W]`, f32, f16 or bf16; f64 on Flex and NdArray. Any strides.
/// - `rois`: boxes `[center x, center y, width, height, angle]`, the first four in the coordinates that
///   `spatial_scale` turns into pixels, of the features' dtype, or of f32 for half features, and on their device. A
///   box may lie partly or wholly outside. With `aligned`, a negative width or height mirrors the box where the
///   number of samples is fixed, and returns 0 where it is adaptive. Without `aligned`, such a side counts as one
///   pixel.
/// - Returns `[K, C, P, Q]` in the features' dtype. Coordinates and sums are f32 (f64 for f64), and the result is
///   rounded once.
///
/// On Flex and NdArray a box or an angle that is not finite and a batch index out of range are errors. GPUs do not read
/// them: there such a region returns 0, and [`RotatedRois::validate`] finds it. On GPUs, cosine and sine are within
/// 4e-7 of the exact ones for angles of up to 1000 turns.
///
/// The rule is that of detectron2's `ROIAlignRotated` and mmcv 2.2's `roi_align_rotated`. With gradients on, features,
/// boxes and angles have them; the two frameworks give those of features only.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{AngleConvention, RoiAlignRotatedConfig, RotatedRois, roi_align_rotated};
///
/// let device = Device::default();
/// let features = Tensor::<4>::ones([1, 256, 50, 76], &device);
/// let boxes = Tensor::<2>::from_floats([[300.0, 200.0, 120.0, 60.0, 30.0]], &device);
/// let config = RoiAlignRotatedConfig::new([7, 7])
///     .with_spatial_scale(1.0 / 16.0)
///     .with_angle(AngleConvention::DEGREES_COUNTER_CLOCKWISE);
/// let pooled = roi_align_rotated(features, &RotatedRois::from_images(vec![boxes]), config);
/// assert_eq!(pooled.dims(), [1, 256, 7, 7]);
/// ```
///
/// # Panics
///
/// If [`try_roi_align_rotated`] returns an error, with its text.
pub fn roi_align_rotated(
    features: Tensor<4>,
    rois: &RotatedRois,
    config: impl Into<RoiAlignRotatedConfig>,
) -> Tensor<4> {
    or_panic(try_roi_align_rotated(features, rois, config))
}

/// [`roi_align_rotated`] for arguments that may be wrong.
///
/// # Errors
///
/// - [`RoiError::Option`]: an output size of 0 or above 32767; a scale that is 0, negative or not finite; 0 or more
///   than 1024 fixed samples, or another sampling than `Fixed` and `Adaptive`; another order of operations than the two
///   named.
/// - [`RoiError::AngleNotFinite`]: on a host device, an angle that is NaN or infinite.
/// - All other errors of [`try_roi_align`](crate::try_roi_align), for the same reasons.
pub fn try_roi_align_rotated(
    features: Tensor<4>,
    rois: &RotatedRois,
    config: impl Into<RoiAlignRotatedConfig>,
) -> Result<Tensor<4>, RoiError> {
    config.into().try_pool(features, rois)
}

/// [`roi_align_rotated`] as a module. Created by [`RoiAlignRotatedConfig::init`].
pub type RoiAlignRotated = Pool<RoiAlignRotatedConfig>;
