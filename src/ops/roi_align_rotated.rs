//! `roi_align_rotated`: RoiAlign of boxes that are turned about their centres.

use super::prelude::*;

config! {
/// The options of [`roi_align_rotated`]. The defaults match mmcv's `roi_align_rotated`.
/// [`mmcv::RoiAlignRotated`](crate::mmcv::RoiAlignRotated),
/// [`detectron2::RoiAlignRotated`](crate::detectron2::RoiAlignRotated) and
/// [`openvino::RoiAlignRotated15`](crate::openvino::RoiAlignRotated15) have the frameworks' option names.
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
    /// How many samples an output element takes along each axis: `Fixed` or `Adaptive`. An adaptive count is at most
    /// 65,536.
    pub sampling: Sampling = Sampling::Adaptive,
    /// If true, 0.5 is subtracted from scaled coordinates: pixel centres lie at half-integers. If false, nothing is
    /// subtracted, and a region is at least one pixel long.
    pub aligned: bool = true,
    /// The least length of a region along each axis, in pixels of the map. `None`: 1 pixel if not `aligned`, otherwise
    /// 0.
    pub minimum_length: Option<f64> = None,
    /// What an angle means.
    pub angle: AngleConvention = AngleConvention::RADIANS_COUNTER_CLOCKWISE,
    /// In which order positions are computed.
    #[doc(hidden)]
    pub arithmetic: Arithmetic = Arithmetic::FromElements,
}
}

impl ToRegionOperator for RoiAlignRotatedConfig {
    fn operator(&self, _has_offsets: bool) -> Result<RegionOperator, RoiError> {
        options::output_size("output_size", self.output_size)?;
        options::scale("spatial_scale", self.spatial_scale)?;
        options::fixed_or_adaptive("sampling", self.sampling)?;
        options::from_elements("arithmetic", self.arithmetic)?;
        let length = self.minimum_length.unwrap_or_default();
        options::within("minimum_length", length, 0.0..=f32::MAX.into(), "0 or above")?;
        let grid = PointGrid {
            placement: Placement::Rotated {
                radians: self.angle.in_radians(),
            },
            spatial_scale: self.spatial_scale,
            input_pixel_offset: if self.aligned { 0.5 } else { 0.0 },
            minimum_length: self.minimum_length.or((!self.aligned).then_some(1.0)),
            sampling: [self.sampling; 2],
            bounds: Bounds::OnePixelBeyond,
            ignores_out_of_bounds: false,
            arithmetic: self.arithmetic,
        };
        Ok(RegionOperator::average(self.output_size, Elements::Points(grid)))
    }
}

operator! {
/// Samples rotated regions of feature maps: `[N, C, H, W]` and K regions to `[K, C, P, Q]`.
///
/// An output element is the mean of bilinear samples. They lie in the box as in [`roi_align`](crate::roi_align()), and
/// turn with it about its centre. A sample more than a pixel outside of the map counts as 0.
///
/// - `features`: `[N, C, H, W]`.
/// - `rois`: boxes `[center x, center y, width, height, angle]`, the first four in the coordinates that `spatial_scale`
///   turns into pixels, the angle as `angle` in the config says. A box may lie partly or wholly outside. With
///   `aligned`, a negative width or height mirrors the box if the number of samples is fixed, and returns 0 if it is
///   adaptive. Without `aligned`, such a side counts as one pixel.
/// - Returns `[K, C, P, Q]`.
///
/// On GPUs, cosine and sine are within 4e-7 of the exact values for angles of up to 1000 turns.
///
/// The operator follows detectron2's `ROIAlignRotated` and mmcv 2.2's `roi_align_rotated`. On an autodiff device
/// features, boxes and angles have gradients; in these frameworks only features have one.
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
fn roi_align_rotated(RoiAlignRotatedConfig { spatial_scale }, RotatedRois) -> RoiAlignRotated;
/// - [`RoiError::Option`]: an output size of 0 or above 32767; a scale that is 0, negative or not finite; 0 or more
///   than 1024 fixed samples, or another sampling than `Fixed` and `Adaptive`; a negative minimum length.
/// - [`RoiError::AngleNotFinite`]: on a host device, an angle that is NaN or infinite.
/// - All other errors of [`try_roi_align`](crate::try_roi_align), for the same reasons.
fn try_roi_align_rotated;
}
