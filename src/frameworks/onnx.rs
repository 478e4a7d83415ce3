//! ONNX `RoiAlign` (opset 10, 16 and 22), `MaxRoiPool` and `com.microsoft::CropAndResize`, as onnxruntime 1.32 computes
//! them.

use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use crate::geometry::options::{Interpolation, Reduction};
use crate::ops::{CropAndResizeConfig, RoiAlignConfig, RoiPoolConfig};
use crate::read_back::integers;

/// The attribute `mode` of `RoiAlign`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The mean of the samples.
    Avg,
    /// The maximum of weight × pixel over the four pixels of each sample, not the largest sample, as in onnxruntime and
    /// the ONNX reference implementation.
    Max,
}

/// The attribute `coordinate_transformation_mode` of `RoiAlign`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CoordinateTransformationMode {
    /// 0.5 is subtracted from scaled coordinates: pixel centres lie at half-integers.
    HalfPixel,
    /// The regions are shifted by half a pixel, and at least one pixel long, as in opset 10.
    OutputHalfPixel,
}

framework! {
/// The attributes of `RoiAlign` since opset 16. Opset 22 added bfloat16 and changed no attribute.
///
/// ```
/// use burn_roi::{Reduction, RoiAlignConfig, onnx};
///
/// let config: RoiAlignConfig = onnx::RoiAlign16::new()
///     .with_output_height(7)
///     .with_output_width(7)
///     .with_mode(onnx::Mode::Max)
///     .into();
/// assert_eq!(config.reduction, Reduction::MaxOfWeightedCorners);
/// assert_eq!(config.input_pixel_offset, 0.5);
/// ```
pub struct RoiAlign16 {
    /// How coordinates map to pixels.
    pub coordinate_transformation_mode: CoordinateTransformationMode = CoordinateTransformationMode::HalfPixel,
    /// How the samples of an output element become one value.
    pub mode: Mode = Mode::Avg,
    /// Height of the output.
    pub output_height: usize = 1,
    /// Width of the output.
    pub output_width: usize = 1,
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize = 0,
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32 = 1.0,
}
RoiAlignConfig::new([output_height, output_width]) with spatial_scale, sampling_ratio,
    aligned(coordinate_transformation_mode == CoordinateTransformationMode::HalfPixel),
    reduction(match mode {
        Mode::Avg => Reduction::Average,
        Mode::Max => Reduction::MaxOfWeightedCorners,
    })
}

/// The attributes of `RoiAlign` in opset 22, the same as in opset 16.
pub type RoiAlign22 = RoiAlign16;

framework! {
/// The attributes of `RoiAlign` in opset 10, whose regions are shifted by half a pixel.
///
/// ```
/// use burn_roi::{RoiAlignConfig, onnx};
///
/// let config: RoiAlignConfig = onnx::RoiAlign10::new().with_output_height(7).with_output_width(7).into();
/// assert_eq!(config.input_pixel_offset, 0.0);
/// ```
pub struct RoiAlign10 {
    /// How the samples of an output element become one value.
    pub mode: Mode = Mode::Avg,
    /// Height of the output.
    pub output_height: usize = 1,
    /// Width of the output.
    pub output_width: usize = 1,
    /// Samples of an output element along each axis; 0 for the adaptive number.
    pub sampling_ratio: usize = 0,
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32 = 1.0,
}
RoiAlignConfig: RoiAlign16 {
    coordinate_transformation_mode: CoordinateTransformationMode::OutputHalfPixel,
    mode, output_height, output_width, sampling_ratio, spatial_scale,
}.into()
}

framework! {
/// The attributes of `MaxRoiPool`. For its boxes `[K, 5]`, use
/// [`Rois::from_index_first`](crate::Rois::from_index_first).
///
/// ```
/// use burn_roi::{RoiPoolConfig, onnx};
///
/// let config: RoiPoolConfig = onnx::MaxRoiPool::new([7, 7]).with_spatial_scale(0.0625).into();
/// assert_eq!(config.output_size, [7, 7]);
/// ```
pub struct MaxRoiPool {
    /// Height and width of the output.
    pub pooled_shape: [usize; 2],
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32 = 1.0,
}
RoiPoolConfig::new(pooled_shape) with spatial_scale
}

framework! {
/// The attributes of `com.microsoft::CropAndResize` and its input `crop_size`, for features `[N, C, H, W]`.
///
/// The last row and the last column of a crop lie exactly at the end of its box, unlike TensorFlow's.
///
/// ```
/// use burn_roi::{CropAndResizeConfig, onnx};
///
/// let config: CropAndResizeConfig = onnx::CropAndResize::new([14, 14]).with_extrapolation_value(-1.0).into();
/// assert!(config.ends_exactly);
/// ```
pub struct CropAndResize {
    /// Height and width of a crop.
    pub crop_size: [usize; 2],
    /// What a point between pixels reads.
    pub mode: Interpolation = Interpolation::Bilinear,
    /// What a point outside of the image reads.
    pub extrapolation_value: f32 = 0.0,
}
CropAndResizeConfig::new(crop_size) with method(mode), extrapolation_value, ends_exactly(true)
}

impl CropAndResize {
    /// The default attributes with the input `crop_size`, a tensor of height and width. The tensor is copied back from
    /// its device.
    ///
    /// # Panics
    ///
    /// If the tensor does not have two elements. A size that is not from 1 to 32767 becomes 0, which
    /// [`crop_and_resize`](crate::crop_and_resize()) refuses.
    pub fn of_tensor(crop_size: Tensor<1, Int>) -> Self {
        let sizes = integers(&crop_size.into_data());
        let [height, width] = sizes[..] else {
            panic!(
                "`crop_size` has {} elements; it must have a height and a width",
                sizes.len()
            );
        };
        Self::new([height, width].map(|size| usize::try_from(size).unwrap_or(0)))
    }
}
