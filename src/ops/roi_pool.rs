//! `roi_pool`: divides each region into bins of whole pixels and takes their maxima.

use super::prelude::*;

config! {
/// The options of [`roi_pool`]. The defaults match torchvision's `roi_pool`. These structs have a framework's option
/// names and convert to this config: `RoiPool` of [`torchvision`](crate::torchvision), [`paddle`](crate::paddle) and
/// [`mmcv`](crate::mmcv), `MaxRoiPool` of [`onnx`](crate::onnx), `RoiPoolingOperatorDesc` of
/// [`directml`](crate::directml) and `RoiPoolingMax` of [`openvino`](crate::openvino).
///
/// Along each axis, for a region from `a` to `b` (both inclusive) and `P` bins:
///
/// ```text
/// first = round(a * spatial_scale)           a half is rounded away from zero
/// size  = max(round(b * spatial_scale) - first + 1, minimum_length)
/// bin p covers [floor(p * size / P) + first, ceil((p + 1) * size / P) + first), within the map
/// ```
///
/// With `BoxRounding::BeforeScaling`, `first` is `round(a) * spatial_scale`, and a region ends at
/// `(round(b) + 1) * spatial_scale`. With `BoxRounding::Never`, a region reaches from `a * spatial_scale` to
/// `(b + 1) * spatial_scale`, and a region without length has no pixel. With both, bin borders are rounded after
/// `first` is added.
///
/// The box `[1.2, 0.8, 6.4, 4.3]` is blue. Its bins of whole pixels are orange, and neighbours overlap:
///
#[doc = include_str!("../../docs/bins.svg")]
///
/// ```
/// use burn_roi::RoiPoolConfig;
///
/// let config = RoiPoolConfig::new([7, 7]).with_spatial_scale(1.0 / 16.0);
/// assert_eq!(config.spatial_scale_y, 0.0625);
/// ```
#[derive(Debug, PartialEq)]
pub struct RoiPoolConfig {
    /// Height P and width Q of the output, 1 to 32767.
    pub output_size: [usize; 2],
    /// From box coordinates to rows of the map.
    pub spatial_scale_y: f64 = 1.0,
    /// From box coordinates to columns of the map.
    pub spatial_scale_x: f64 = 1.0,
    /// Whether box coordinates are rounded before or after they are scaled, or not at all.
    pub rounding: BoxRounding = BoxRounding::AfterScaling,
    /// How bins are divided.
    pub division: BinDivision = BinDivision::Rounded,
    /// The least length of a region along each axis, a whole number of pixels of the map, 0 to 65535. If `None`, an
    /// inverted region has no pixel.
    pub minimum_length: Option<f64> = Some(1.0),
    /// The initial value of a maximum: the result of a bin whose pixels are all smaller or NaN.
    pub maximum_from: MaximumFrom = MaximumFrom::LeastSingle,
}
}

impl RoiPoolConfig {
    /// Sets the spatial scale of both axes.
    pub fn with_spatial_scale(self, spatial_scale: f64) -> Self {
        self.with_spatial_scale_y(spatial_scale)
            .with_spatial_scale_x(spatial_scale)
    }

    /// Which pixels belong to which bin along an axis.
    pub(super) fn axis(&self, spatial_scale: f64) -> BinAxis {
        BinAxis {
            spatial_scale,
            end_offset: 0.0,
            rounding: self.rounding,
            inclusive_end: true,
            minimum_length: self.minimum_length.unwrap_or_default(),
            division: self.division,
            reaches_last_pixel: true,
            gradient_reaches_last_pixel: true,
        }
    }
}

impl ToRegionOperator for RoiPoolConfig {
    fn operator(&self, _has_offsets: bool) -> Result<RegionOperator, RoiError> {
        options::output_size("output_size", self.output_size)?;
        options::scale("spatial_scale_y", self.spatial_scale_y)?;
        options::scale("spatial_scale_x", self.spatial_scale_x)?;
        options::bin_length("minimum_length", self.minimum_length, true)?;
        let axes = [self.spatial_scale_y, self.spatial_scale_x].map(|scale| self.axis(scale));
        Ok(RegionOperator {
            reduction: Reduction::Max,
            maximum_from: self.maximum_from.number(),
            ..RegionOperator::average(self.output_size, Elements::Bins(axes))
        })
    }
}

operator! {
/// Takes the maxima of bins of regions: `[N, C, H, W]` and K regions to `[K, C, P, Q]`.
///
/// - `features`: `[N, C, H, W]`.
/// - `rois`: boxes `[x1, y1, x2, y2]`, both corners inclusive, in pixels of the image. `spatial_scale` turns them into
///   pixels of the map. A box may be empty, inverted, or partly or wholly outside of the map.
/// - Returns `[K, C, P, Q]`. A bin without a pixel of the map returns 0. NaN is ignored.
///
/// The operator of Fast R-CNN (Girshick, 2015), as torchvision, ONNX Runtime, OpenVINO, Paddle and mmcv compute it, or
/// as DirectML's document describes it.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{RoiPoolConfig, Rois, roi_pool};
///
/// let device = Device::default();
/// let features = Tensor::<4>::ones([1, 8, 38, 50], &device);
/// let boxes = Tensor::<2>::from_floats([[16.0, 16.0, 240.0, 128.0]], &device);
/// let config = RoiPoolConfig::new([7, 7]).with_spatial_scale(1.0 / 16.0);
/// let pooled = roi_pool(features, &Rois::from_images(vec![boxes]), config);
/// assert_eq!(pooled.dims(), [1, 8, 7, 7]);
/// ```
fn roi_pool(RoiPoolConfig { spatial_scale_y, spatial_scale_x }, Rois) -> RoiPool;
/// - [`RoiError::Option`]: an output size of 0 or above 32767; a scale that is 0, negative or not finite; a minimum
///   length that is not a whole number from 0 to 65535.
/// - All other errors of [`try_roi_align`](crate::try_roi_align), for the same reasons.
fn try_roi_pool;
}
