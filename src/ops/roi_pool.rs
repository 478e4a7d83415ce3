//! `roi_pool`: divides each region into bins of whole pixels and takes their maxima.

use burn::tensor::Tensor;

use super::operator_config::{Operates, Pools};
use super::{Pool, options};
use crate::config::config;
use crate::error::{RoiError, or_panic};
use crate::geometry::levels::AreaRange;
use crate::geometry::operator::{BinAxis, ChannelMap, Elements, RegionOperator};
use crate::geometry::options::{BinDivision, BoxFormat, BoxRounding, MaximumFrom, Reduction};
use crate::regions::Rois;

config! {
/// What [`roi_pool`] computes. The defaults are those of torchvision's `roi_pool`; the structs `roi_pool` of
/// [`torchvision`](crate::torchvision), [`paddle`](crate::paddle) and [`mmcv`](crate::mmcv), `MaxRoiPool` of
/// [`onnx`](crate::onnx), `ROI_POOLING` of [`directml`](crate::directml) and `ROIPooling` of
/// [`openvino`](crate::openvino) turn into it.
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
/// `(round(b) + 1) * spatial_scale`. With `BoxRounding::Never`, they are `a * spatial_scale` and
/// `(b + 1) * spatial_scale`, and a region without length has no pixel. In both cases the borders of bins are rounded
/// after `first` is added.
///
/// The box `[1.2, 0.8, 6.4, 4.3]` (blue) and its bins of whole pixels (orange), of which neighbours overlap:
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
    /// The least length of a region along each axis, a whole number of pixels of the map, 0 to 65535. With none, an
    /// inverted region has no pixel.
    pub minimum_length: Option<f64> = Some(1.0),
    /// What a maximum starts from: the value of a bin whose pixels are all smaller or NaN.
    pub maximum_from: MaximumFrom = MaximumFrom::LeastSingle,
}
}

impl RoiPoolConfig {
    /// Sets the spatial scale of both axes.
    pub fn with_spatial_scale(self, spatial_scale: f64) -> Self {
        self.with_spatial_scale_y(spatial_scale)
            .with_spatial_scale_x(spatial_scale)
    }

    /// Creates the module.
    pub fn init(&self) -> RoiPool {
        Pool::of(self)
    }

    fn axis(&self, spatial_scale: f64) -> BinAxis {
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

impl Operates for RoiPoolConfig {
    type Rois = Rois;

    fn operator(&self, _has_offsets: bool) -> Result<RegionOperator, RoiError> {
        options::output_size("output_size", self.output_size)?;
        options::scale("spatial_scale_y", self.spatial_scale_y)?;
        options::scale("spatial_scale_x", self.spatial_scale_x)?;
        options::bin_length("minimum_length", self.minimum_length, true)?;
        Ok(RegionOperator {
            output_size: self.output_size,
            elements: Elements::Bins([self.spatial_scale_y, self.spatial_scale_x].map(|scale| self.axis(scale))),
            reduction: Reduction::Max,
            out_of_bounds_value: 0.0,
            maximum_from: self.maximum_from.number(),
            box_format: BoxFormat::Xyxy,
            channel_map: ChannelMap::Same,
            areas: AreaRange::ALL,
        })
    }

    fn spatial_scales(&mut self) -> Vec<&mut f64> {
        vec![&mut self.spatial_scale_y, &mut self.spatial_scale_x]
    }
}

/// Takes the maxima of bins of regions: `[N, C, H, W]` and K regions to `[K, C, P, Q]`.
///
/// - `features`: `[N, C, H, W]`, f32, f16 or bf16; f64 on Flex and NdArray. Any strides.
/// - `rois`: boxes `[x1, y1, x2, y2]`, both corners inclusive, in the coordinates that `spatial_scale` turns into
///   pixels, of the features' dtype, or of f32 for half features, and on their device.
/// - Returns `[K, C, P, Q]` in the features' dtype. A bin without a pixel of the map returns 0. NaN is ignored.
///
/// On Flex and NdArray a box that is not finite and a batch index out of range are errors. GPUs do not read them: there
/// such a region returns 0, and [`Rois::validate`] finds it.
///
/// The rule is that of Fast R-CNN (Girshick, 2015), as torchvision, ONNX Runtime, OpenVINO, Paddle and mmcv compute it,
/// or as DirectML's document has it.
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
///
/// # Panics
///
/// If [`try_roi_pool`] returns an error, with its text.
pub fn roi_pool(features: Tensor<4>, rois: &Rois, config: impl Into<RoiPoolConfig>) -> Tensor<4> {
    or_panic(try_roi_pool(features, rois, config))
}

/// [`roi_pool`] for arguments that may be wrong.
///
/// # Errors
///
/// - [`RoiError::Option`]: an output size of 0 or above 32767; a scale that is 0, negative or not finite; a minimum
///   length that is no whole number from 0 to 65535.
/// - All other errors of [`try_roi_align`](crate::try_roi_align), for the same reasons.
pub fn try_roi_pool(features: Tensor<4>, rois: &Rois, config: impl Into<RoiPoolConfig>) -> Result<Tensor<4>, RoiError> {
    config.into().try_pool(features, rois)
}

/// [`roi_pool`] as a module. Created by [`RoiPoolConfig::init`].
pub type RoiPool = Pool<RoiPoolConfig>;
