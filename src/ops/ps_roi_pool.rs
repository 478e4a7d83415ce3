//! `ps_roi_pool`: averages over bins of whole pixels. Each output element reads its own input channel.

use super::prelude::*;

config! {
/// The options of [`ps_roi_pool`]. The defaults match torchvision's `ps_roi_pool`.
/// [`torchvision::PsRoiPool`](crate::torchvision::PsRoiPool),
/// [`openvino::PsRoiPoolingAverage`](crate::openvino::PsRoiPoolingAverage) and
/// [`paddle::PsRoiPool`](crate::paddle::PsRoiPool) have the frameworks' option names.
///
/// Along each axis of `S` pixels, for a region from `a` to `b` and `P` bins:
///
/// ```text
/// start = round(a * spatial_scale)                      a half is rounded away from zero
/// end   = round((b + end_offset) * spatial_scale)       plus 1 if `inclusive_end`
/// size  = max(end - start, minimum_length)
/// bin p covers [floor(start + p * size / P), ceil(start + (p + 1) * size / P)), within [0, S - 1)
/// ```
///
/// With `BoxRounding::BeforeScaling`, `start` is `round(a) * spatial_scale`, and `end` is `round(b + end_offset)`, plus
/// 1 if `inclusive_end`, times `spatial_scale`. With `reaches_last_pixel`, bins are clamped to `[0, S)`.
///
/// ```
/// use burn_roi::PsRoiPoolConfig;
///
/// let config = PsRoiPoolConfig::new([7, 7]).with_spatial_scale(1.0 / 16.0);
/// assert_eq!(config.spatial_scale, 0.0625);
/// ```
#[derive(Debug, PartialEq)]
pub struct PsRoiPoolConfig {
    /// Height P and width Q of the output, 1 to 32767.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f64 = 1.0,
    /// Whether box coordinates are rounded before or after they are scaled.
    pub rounding: BoxRounding = BoxRounding::AfterScaling,
    /// Added to x2 and y2 before they are rounded or scaled.
    pub end_offset: f64 = 0.0,
    /// Whether 1 is added to the rounded x2 and y2: the pixel that a box ends in then belongs to the region.
    pub inclusive_end: bool = false,
    /// The least length of a region along each axis, in pixels of the map, 0 to 65535. If `None`, an inverted region
    /// has no pixel.
    pub minimum_length: Option<f64> = Some(1.0),
    /// Whether bins reach the last row and the last column of the map. In torchvision they end before them.
    pub reaches_last_pixel: bool = false,
    /// Whether the gradient of features is torchvision's, whose bins reach the last row and the last column of the map.
    /// The default is the derivative of the forward pass.
    pub gradient_reaches_last_pixel: bool = false,
}
}

impl ToRegionOperator for PsRoiPoolConfig {
    fn operator(&self, _has_offsets: bool) -> Result<RegionOperator, RoiError> {
        options::output_size("output_size", self.output_size)?;
        options::scale("spatial_scale", self.spatial_scale)?;
        options::finite("end_offset", self.end_offset)?;
        options::bin_length("minimum_length", self.minimum_length, false)?;
        let axis = BinAxis {
            spatial_scale: self.spatial_scale,
            end_offset: self.end_offset,
            rounding: self.rounding,
            inclusive_end: self.inclusive_end,
            minimum_length: self.minimum_length.unwrap_or_default(),
            division: BinDivision::Rounded,
            reaches_last_pixel: self.reaches_last_pixel,
            gradient_reaches_last_pixel: self.gradient_reaches_last_pixel,
        };
        Ok(RegionOperator {
            channel_map: ChannelMap::PositionSensitive,
            ..RegionOperator::average(self.output_size, Elements::Bins([axis; 2]))
        })
    }
}

operator! {
/// Averages bins of regions of position-sensitive feature maps: `[N, C * P * Q, H, W]` and K regions to `[K, C, P, Q]`.
///
/// Element `(p, q)` of output channel `c` is the average of the pixels of its bin in input channel `(c * P + p) * Q +
/// q`.
///
/// - `features`: `[N, C * P * Q, H, W]`.
/// - `rois`: boxes `[x1, y1, x2, y2]` in pixels of the image, which `spatial_scale` turns into pixels of the map. The
///   pixel that a box ends in belongs to the box if `inclusive_end` is true. A box may be empty, inverted, or partly or
///   wholly outside.
/// - Returns `[K, C, P, Q]`. A bin without a pixel returns 0.
///
/// The operator of R-FCN (Dai et al., 2016), as torchvision, OpenVINO or Paddle compute it.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{PsRoiPoolConfig, Rois, ps_roi_pool};
///
/// let device = Device::default();
/// let features = Tensor::<4>::ones([1, 10 * 7 * 7, 38, 50], &device);
/// let boxes = Tensor::<2>::from_floats([[16.0, 16.0, 240.0, 128.0]], &device);
/// let config = PsRoiPoolConfig::new([7, 7]).with_spatial_scale(1.0 / 16.0);
/// let pooled = ps_roi_pool(features, &Rois::from_images(vec![boxes]), config);
/// assert_eq!(pooled.dims(), [1, 10, 7, 7]);
/// ```
fn ps_roi_pool(PsRoiPoolConfig { spatial_scale }, Rois) -> PsRoiPool;
/// - [`RoiError::Option`]: an output size of 0 or above 32767; a scale that is 0, negative or not finite; an end offset
///   that is not finite; a minimum length below 0 or above 65535.
/// - [`RoiError::Channels`]: the features' channels are not a multiple of P * Q.
/// - All other errors of [`try_roi_align`](crate::try_roi_align), for the same reasons.
fn try_ps_roi_pool;
}
