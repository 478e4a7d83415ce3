//! `roi_align`: samples each region at points between pixels and reduces them to a fixed size.

use super::prelude::*;
use crate::geometry::options::MAXIMUM_OUTPUT_PIXEL_OFFSET;

config! {
/// The options of [`roi_align`]. The defaults match torchvision's `roi_align`. Structs of
/// [`torchvision`](crate::torchvision), [`onnx`](crate::onnx), [`openvino`](crate::openvino),
/// [`directml`](crate::directml), [`paddle`](crate::paddle), [`mindspore`](crate::mindspore), [`mmcv`](crate::mmcv) and
/// [`mxnet`](crate::mxnet) have the frameworks' option names and convert to this config.
///
/// Along each axis, for a region from `a` to `b` and `P` output elements of `n` samples each:
///
/// ```text
/// start  = (a + box_offset) * spatial_scale - input_pixel_offset
/// length = max((b + end_offset - a) * spatial_scale, minimum_length)
/// step   = length / (P * n)                  with align_corners: length / (P * n - 1)
/// pos(s) = start + (s - output_pixel_offset) * step            s = 0 .. P * n - 1
/// ```
///
/// A sample is in bounds if `-1 <= pos <= size` along both axes. Its position is then clamped to `[0, size - 1]`. An
/// `input_pixel_offset` of 0.5 puts the centre of the first pixel at 0.5: `aligned` in torchvision and detectron2,
/// `half_pixel` in ONNX.
///
/// ```
/// use burn_roi::{RoiAlignConfig, Sampling};
///
/// let config = RoiAlignConfig::new([7, 7]).with_spatial_scale(0.25).with_sampling_ratio(2);
/// assert_eq!(config.spatial_scale_x, 0.25);
/// assert_eq!(config.sampling, Sampling::Fixed(2));
/// ```
#[derive(Debug, PartialEq)]
pub struct RoiAlignConfig {
    /// Height P and width Q of the output, 1 to 32767.
    pub output_size: [usize; 2],
    /// From box coordinates to rows of the map: 0.25 for a map of a quarter of the image's size.
    pub spatial_scale_y: f64 = 1.0,
    /// From box coordinates to columns of the map.
    pub spatial_scale_x: f64 = 1.0,
    /// How many samples an output element takes along each axis.
    pub sampling: Sampling = Sampling::Adaptive,
    /// What a sample between pixels reads.
    pub interpolation: Interpolation = Interpolation::Bilinear,
    /// How the samples of an output element become one value.
    pub reduction: Reduction = Reduction::Average,
    /// Added to box coordinates before they are scaled.
    pub box_offset: f64 = 0.0,
    /// Added to x2 and y2 before they are scaled.
    pub end_offset: f64 = 0.0,
    /// Subtracted from scaled coordinates. The centre of the first pixel lies there.
    pub input_pixel_offset: f64 = 0.0,
    /// Subtracted from the index of a sample, -1024 to 1024; -0.5 puts the sample in the middle of its step.
    pub output_pixel_offset: f64 = -0.5,
    /// The value of a sample out of bounds. A region with an invalid batch index counts as wholly out of bounds.
    pub out_of_bounds_value: f64 = 0.0,
    /// Whether `step` is `length / (P * n - 1)`. With an `output_pixel_offset` of 0, the outermost samples then lie on
    /// the corners of the region. If `P * n` is 1, the sample lies in the middle of the region.
    pub align_corners: bool = false,
    /// The least length of a region along each axis, in pixels of the map, 0 or above: 1 for torchvision's
    /// `aligned = False`. If `None`, a region may be empty or inverted.
    pub minimum_length: Option<f64> = Some(1.0),
    /// In which order positions are computed.
    #[doc(hidden)]
    pub arithmetic: Arithmetic = Arithmetic::FromElements,
}
}

impl RoiAlignConfig {
    /// Sets the spatial scale of both axes.
    pub fn with_spatial_scale(self, spatial_scale: f64) -> Self {
        self.with_spatial_scale_y(spatial_scale)
            .with_spatial_scale_x(spatial_scale)
    }

    /// Sets torchvision's and detectron2's `aligned`. If true, 0.5 is subtracted from scaled coordinates. If false,
    /// nothing is subtracted, and a region is at least one pixel long. The drawing shows the box `[1, 1, 7, 4]` with a
    /// scale of 1 and an output of 2 x 2. The region is blue, the samples are orange, and grey points are the centres
    /// of pixels:
    ///
    #[doc = include_str!("../../docs/samples.svg")]
    pub fn with_aligned(self, aligned: bool) -> Self {
        self.with_input_pixel_offset(if aligned { 0.5 } else { 0.0 })
            .with_minimum_length((!aligned).then_some(1.0))
    }

    /// Where samples fall along an axis.
    pub(super) fn axis(&self, spatial_scale: f64) -> SampleAxis {
        SampleAxis {
            spatial_scale: SpatialScale::Times(spatial_scale),
            box_offset: self.box_offset,
            end_offset: self.end_offset,
            input_pixel_offset: self.input_pixel_offset,
            output_pixel_offset: self.output_pixel_offset,
            minimum_length: self.minimum_length,
            sampling: self.sampling,
            align_corners: self.align_corners,
            sample_at_end: None,
            bounds: Bounds::OnePixelBeyond,
            interpolation: self.interpolation,
            half_up: false,
            flat_on_pixels: false,
            arithmetic: self.arithmetic,
        }
    }
}

impl ToRegionOperator for RoiAlignConfig {
    fn operator(&self, _has_offsets: bool) -> Result<RegionOperator, RoiError> {
        options::output_size("output_size", self.output_size)?;
        options::scale("spatial_scale_y", self.spatial_scale_y)?;
        options::scale("spatial_scale_x", self.spatial_scale_x)?;
        options::sampling("sampling", self.sampling)?;
        options::finite("box_offset", self.box_offset)?;
        options::finite("end_offset", self.end_offset)?;
        options::finite("input_pixel_offset", self.input_pixel_offset)?;
        let farthest = MAXIMUM_OUTPUT_PIXEL_OFFSET;
        let offset = self.output_pixel_offset;
        options::within("output_pixel_offset", offset, -farthest..=farthest, "-1024 to 1024")?;
        options::finite("out_of_bounds_value", self.out_of_bounds_value)?;
        let length = self.minimum_length.unwrap_or_default();
        options::within("minimum_length", length, 0.0..=f32::MAX.into(), "0 or above")?;
        let axes = [self.spatial_scale_y, self.spatial_scale_x].map(|scale| self.axis(scale));
        Ok(RegionOperator {
            reduction: self.reduction,
            out_of_bounds_value: self.out_of_bounds_value,
            maximum_from: self.reduction.starts_from(),
            ..RegionOperator::average(self.output_size, Elements::Samples(axes))
        })
    }
}

operator! {
/// Samples regions of feature maps: `[N, C, H, W]` and K regions to `[K, C, P, Q]`.
///
/// - `features`: `[N, C, H, W]`.
/// - `rois`: boxes `[x1, y1, x2, y2]` in pixels of the image. `spatial_scale` turns them into pixels of the map. A box
///   may be empty, inverted, or partly or wholly outside of the map.
/// - Returns `[K, C, P, Q]`.
///
/// The operator of Mask R-CNN (He et al., 2017). `config` says which framework's rule it follows.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{RoiAlignConfig, Rois, roi_align, torchvision};
///
/// let device = Device::default();
/// let features = Tensor::<4>::ones([1, 8, 50, 76], &device);
/// let boxes = Tensor::<2>::from_floats([[16.0, 16.0, 240.0, 128.0]], &device);
/// let rois = Rois::from_images(vec![boxes]);
///
/// let config = RoiAlignConfig::new([7, 7]).with_spatial_scale(0.25).with_sampling_ratio(2);
/// assert_eq!(roi_align(features.clone(), &rois, config).dims(), [1, 8, 7, 7]);
///
/// let config = torchvision::RoiAlign::new([7, 7]).with_spatial_scale(0.25).with_aligned(true);
/// assert_eq!(roi_align(features, &rois, config).dims(), [1, 8, 7, 7]);
/// ```
fn roi_align(RoiAlignConfig { spatial_scale_y, spatial_scale_x }, Rois) -> RoiAlign;
/// - [`RoiError::Option`]: an output size of 0 or above 32767; a scale that is 0, negative or not finite; 0 samples,
///   more than 1024 fixed or minimum samples, or a minimum above the maximum; an output pixel offset beyond ±1024;
///   another offset or an out-of-bounds value that is not finite; a minimum length below 0.
/// - [`RoiError::DType`], [`RoiError::Device`]: `rois` do not match `features`, or the device lacks their dtype.
/// - [`RoiError::Backend`], [`RoiError::Autodiff`]: the operators do not run on the device.
/// - [`RoiError::EmptyMap`]: the map has height or width 0, and there are regions.
/// - [`RoiError::Memory`]: the output does not fit into the machine's memory (Flex, NdArray) or into one allocation of
///   the device (CubeCL). A remote device's server refuses such a call later, and reading the output fails.
/// - [`RoiError::BoxNotFinite`], [`RoiError::BatchIndex`]: on Flex and NdArray only.
fn try_roi_align;
}
