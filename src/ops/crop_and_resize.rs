//! `crop_and_resize`: TensorFlow's operator, on `[N, C, H, W]`.

use super::prelude::*;

config! {
/// The options of [`crop_and_resize`], with TensorFlow's names and defaults.
/// [`onnx::CropAndResize`](crate::onnx::CropAndResize) and
/// [`openvino::RoiPoolingBilinear`](crate::openvino::RoiPoolingBilinear) convert to this config.
///
/// ```
/// use burn_roi::{CropAndResizeConfig, Interpolation};
///
/// let config = CropAndResizeConfig::new([14, 14]).with_extrapolation_value(-1.0);
/// assert_eq!(config.method, Interpolation::Bilinear);
/// ```
#[derive(Debug, PartialEq)]
pub struct CropAndResizeConfig {
    /// Height P and width Q of a crop, 1 to 32767.
    pub crop_size: [usize; 2],
    /// What a point between pixels reads.
    pub method: Interpolation = Interpolation::Bilinear,
    /// The value of a point outside of the image, and of all points of a region with an invalid batch index.
    pub extrapolation_value: f64 = 0.0,
    /// What the columns of a box are.
    pub box_format: BoxFormat = BoxFormat::Yxyx,
    /// Whether the last row and the last column of a crop lie exactly at the end of its box, as in OpenVINO. In
    /// TensorFlow, rounding can move them slightly off it, and so outside of the image if the box ends with the
    /// image.
    pub ends_exactly: bool = false,
}
}

impl ToRegionOperator for CropAndResizeConfig {
    fn operator(&self, _has_offsets: bool) -> Result<RegionOperator, RoiError> {
        options::output_size("crop_size", self.crop_size)?;
        options::finite("extrapolation_value", self.extrapolation_value)?;
        // One sample an element, the outermost on the corners. A crop of one row or column takes the middle.
        let last = |size: usize| (self.ends_exactly && size > 1).then(|| size - 1);
        let axis = SampleAxis {
            spatial_scale: SpatialScale::Normalized,
            box_offset: 0.0,
            end_offset: 0.0,
            input_pixel_offset: 0.0,
            output_pixel_offset: 0.0,
            minimum_length: None,
            sampling: Sampling::Fixed(1),
            align_corners: true,
            sample_at_end: None,
            bounds: Bounds::FirstToLastPixel,
            interpolation: self.method,
            half_up: true,
            flat_on_pixels: true,
            arithmetic: Arithmetic::FromRegionUnscaled,
        };
        let axes = self.crop_size.map(|size| SampleAxis {
            sample_at_end: last(size),
            ..axis
        });
        Ok(RegionOperator {
            out_of_bounds_value: self.extrapolation_value,
            box_format: self.box_format,
            ..RegionOperator::average(self.crop_size, Elements::Samples(axes))
        })
    }
}

operator! {
/// Crops regions and resizes them, TensorFlow's `tf.image.crop_and_resize` on `[N, C, H, W]`: K regions to `[K, C, P,
/// Q]`.
///
/// - `features`: `[N, C, H, W]`.
/// - `rois`: TensorFlow's `boxes` and `box_indices`. A box is `[y1, x1, y2, x2]`, unless the config says otherwise, and
///   normalized: 0 is the centre of the first pixel and 1 the centre of the last. It may reach beyond the image. An
///   inverted box flips the crop. [`Rois::to_normalized`] converts boxes in pixels. If you pass a box in pixels,
///   nearly the whole crop is the extrapolation value; [`Rois::validate_normalized`] finds such boxes.
/// - Returns `[K, C, P, Q]`, in the dtype of the features; TensorFlow always returns f32. The outermost points of a
///   crop lie on the corners of its box; a crop of size 1 reads the middle.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{CropAndResizeConfig, Rois, crop_and_resize};
///
/// let device = Device::default();
/// let image = Tensor::<4>::ones([1, 3, 240, 320], &device);
/// let boxes = Tensor::<2>::from_floats([[0.25, 0.1, 0.75, 0.5]], &device);
/// let crops = crop_and_resize(image, &Rois::from_images(vec![boxes]), CropAndResizeConfig::new([64, 64]));
/// assert_eq!(crops.dims(), [1, 3, 64, 64]);
/// ```
// No option is a scale: boxes are normalized, so that they are the same on all maps.
fn crop_and_resize(CropAndResizeConfig {}, Rois) -> CropAndResize;
/// - [`RoiError::Option`]: a crop size of 0 or above 32767; an extrapolation value that is not finite.
/// - All other errors of [`try_roi_align`](crate::try_roi_align), for the same reasons.
fn try_crop_and_resize;
}
