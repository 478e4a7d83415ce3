//! DirectML `ROI_ALIGN`, `ROI_ALIGN1`, `ROI_ALIGN_GRAD` and `ROI_POOLING`, as structs that mirror the documents'
//! fields.
//!
//! A description's tensors are arguments of the operators; only the size of `OutputTensor` is here, as `output_size`.
//! For `ROITensor` and `BatchIndicesTensor` of any rank that the documents allow, use [`Rois::new`](crate::Rois::new).
//! For the `ROITensor` of `ROI_POOLING`, use [`Rois::from_index_first`](crate::Rois::from_index_first).
//!
//! Where DirectML's documents have gaps or errors, this crate does the following:
//!
//! - `spatial_scale_y` applies to y.
//! - The number of samples is rounded up, and sample loops run `0..count`.
//! - A sample is in bounds if `-1 <= position <= size`. Its position is then clamped to `[0, size - 1]`.
//! - Nearest-neighbour sampling rounds a half down.
//! - A single sample that is aligned to corners lies in the middle of the region.

use serde::{Deserialize, Serialize};

use crate::geometry::options::{Arithmetic, BinDivision, Interpolation, Reduction, Sampling};
use crate::ops::{RoiAlignConfig, RoiPoolConfig};

/// The two values of `DML_REDUCE_FUNCTION` that the ROI operators accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReduceFunction {
    /// `DML_REDUCE_FUNCTION_AVERAGE`: the mean of the samples.
    Average,
    /// `DML_REDUCE_FUNCTION_MAX`: the largest sample.
    Max,
}

/// `DML_INTERPOLATION_MODE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum InterpolationMode {
    /// `DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR`: the nearest pixel.
    NearestNeighbor,
    /// `DML_INTERPOLATION_MODE_LINEAR`: the weighted mean of the four pixels around a sample.
    Linear,
}

framework! {
/// `DML_ROI_ALIGN_OPERATOR_DESC`.
///
/// ```
/// use burn_roi::RoiAlignConfig;
/// use burn_roi::directml::{InterpolationMode, ReduceFunction, RoiAlignOperatorDesc};
///
/// let config: RoiAlignConfig = RoiAlignOperatorDesc {
///     output_size: [7, 7],
///     reduction_function: ReduceFunction::Average,
///     interpolation_mode: InterpolationMode::Linear,
///     spatial_scale_x: 0.25,
///     spatial_scale_y: 0.25,
///     out_of_bounds_input_value: 0.0,
///     minimum_samples_per_output: 1,
///     maximum_samples_per_output: 8,
/// }
/// .into();
/// assert_eq!(config.input_pixel_offset, 0.5);
/// ```
pub struct RoiAlignOperatorDesc {
    /// The last two sizes of `OutputTensor`: height and width.
    pub output_size: [usize; 2],
    /// How the samples of an output element become one value.
    pub reduction_function: ReduceFunction,
    /// What a sample between pixels reads.
    pub interpolation_mode: InterpolationMode,
    /// From box coordinates to columns of the map.
    pub spatial_scale_x: f32,
    /// From box coordinates to rows of the map.
    pub spatial_scale_y: f32,
    /// What a sample out of bounds reads.
    pub out_of_bounds_input_value: f32,
    /// The least number of samples of an output element along an axis, 1 to 1024.
    pub minimum_samples_per_output: u32,
    /// The largest number of samples of an output element along an axis.
    pub maximum_samples_per_output: u32,
}
RoiAlignConfig: RoiAlign1OperatorDesc {
    output_size, reduction_function, interpolation_mode, spatial_scale_x, spatial_scale_y, out_of_bounds_input_value,
    minimum_samples_per_output, maximum_samples_per_output,
    input_pixel_offset: 0.5,
    output_pixel_offset: -0.5,
    align_regions_to_corners: false,
}.into()
}

framework! {
/// `DML_ROI_ALIGN1_OPERATOR_DESC`.
///
/// ```
/// use burn_roi::directml::{InterpolationMode, ReduceFunction, RoiAlign1OperatorDesc};
/// use burn_roi::{RoiAlignConfig, Sampling};
///
/// let config: RoiAlignConfig = RoiAlign1OperatorDesc {
///     output_size: [7, 7],
///     reduction_function: ReduceFunction::Average,
///     interpolation_mode: InterpolationMode::Linear,
///     spatial_scale_x: 0.25,
///     spatial_scale_y: 0.25,
///     input_pixel_offset: 0.5,
///     output_pixel_offset: -0.5,
///     out_of_bounds_input_value: 0.0,
///     minimum_samples_per_output: 1,
///     maximum_samples_per_output: u32::MAX,
///     align_regions_to_corners: false,
/// }
/// .into();
/// assert_eq!(config.sampling, Sampling::Clamped { minimum: 1, maximum: u32::MAX as usize });
/// ```
pub struct RoiAlign1OperatorDesc {
    /// The last two sizes of `OutputTensor`: height and width.
    pub output_size: [usize; 2],
    /// How the samples of an output element become one value.
    pub reduction_function: ReduceFunction,
    /// What a sample between pixels reads.
    pub interpolation_mode: InterpolationMode,
    /// From box coordinates to columns of the map.
    pub spatial_scale_x: f32,
    /// From box coordinates to rows of the map.
    pub spatial_scale_y: f32,
    /// Position of the centre of the first pixel: 0.5, or 0.
    pub input_pixel_offset: f32,
    /// Subtracted from the index of a sample: -0.5 for the middle of its step, 0 for the start; -1024 to 1024.
    pub output_pixel_offset: f32,
    /// What a sample out of bounds reads.
    pub out_of_bounds_input_value: f32,
    /// The least number of samples of an output element along an axis, 1 to 1024.
    pub minimum_samples_per_output: u32,
    /// The largest number of samples of an output element along an axis.
    pub maximum_samples_per_output: u32,
    /// Whether the outermost samples lie on the corners of the region.
    pub align_regions_to_corners: bool = false,
}
RoiAlignConfig::new(output_size) with spatial_scale_x, spatial_scale_y, input_pixel_offset, output_pixel_offset,
    out_of_bounds_value(out_of_bounds_input_value.into()),
    align_corners(align_regions_to_corners),
    sampling(Sampling::Clamped {
        minimum: minimum_samples_per_output as usize,
        maximum: maximum_samples_per_output as usize,
    }),
    interpolation(match interpolation_mode {
        InterpolationMode::NearestNeighbor => Interpolation::Nearest,
        InterpolationMode::Linear => Interpolation::Bilinear,
    }),
    reduction(match reduction_function {
        ReduceFunction::Average => Reduction::Average,
        ReduceFunction::Max => Reduction::Max,
    }),
    minimum_length(None),
    arithmetic(Arithmetic::FromRegion)
}

framework! {
/// `DML_ROI_ALIGN_GRAD_OPERATOR_DESC`.
///
/// Convert it to a [`RoiAlignConfig`] and pass that to [`primitive::backward`](crate::primitive::backward()):
/// `features()` then returns `OutputGradientTensor`, and `boxes()` returns `OutputROIGradientTensor`. If there is no
/// `InputTensor`, and the function is an average, pass zeros of its shape: the gradient of features is the same.
///
/// The gradient of boxes is the derivative of `ROI_ALIGN1`. The document's pseudo-code differs: it does not divide by
/// the number of samples.
///
/// ```
/// use burn_roi::RoiAlignConfig;
/// use burn_roi::directml::{InterpolationMode, ReduceFunction, RoiAlignGradOperatorDesc};
///
/// let config: RoiAlignConfig = RoiAlignGradOperatorDesc {
///     input_gradient_size: [1, 3],
///     reduction_function: ReduceFunction::Average,
///     interpolation_mode: InterpolationMode::Linear,
///     spatial_scale_x: 1.0,
///     spatial_scale_y: 1.0,
///     input_pixel_offset: 0.5,
///     output_pixel_offset: -0.5,
///     minimum_samples_per_output: 1,
///     maximum_samples_per_output: 1,
///     align_regions_to_corners: false,
/// }
/// .into();
/// assert_eq!(config.output_size, [1, 3]);
/// ```
pub struct RoiAlignGradOperatorDesc {
    /// The last two sizes of `InputGradientTensor`: height and width.
    pub input_gradient_size: [usize; 2],
    /// How the samples of an output element became one value.
    pub reduction_function: ReduceFunction,
    /// What a sample between pixels read.
    pub interpolation_mode: InterpolationMode,
    /// From box coordinates to columns of the map.
    pub spatial_scale_x: f32,
    /// From box coordinates to rows of the map.
    pub spatial_scale_y: f32,
    /// Position of the centre of the first pixel: 0.5, or 0.
    pub input_pixel_offset: f32,
    /// Subtracted from the index of a sample: -0.5 for the middle of its step, 0 for the start; -1024 to 1024.
    pub output_pixel_offset: f32,
    /// The least number of samples of an output element along an axis, 1 to 1024.
    pub minimum_samples_per_output: u32,
    /// The largest number of samples of an output element along an axis.
    pub maximum_samples_per_output: u32,
    /// Whether the outermost samples lie on the corners of the region.
    pub align_regions_to_corners: bool = false,
}
RoiAlignConfig: RoiAlign1OperatorDesc {
    output_size: input_gradient_size,
    reduction_function, interpolation_mode, spatial_scale_x, spatial_scale_y, input_pixel_offset, output_pixel_offset,
    minimum_samples_per_output, maximum_samples_per_output, align_regions_to_corners,
    // A maximum takes it for samples out of bounds, and this description has none.
    out_of_bounds_input_value: 0.0,
}.into()
}

framework! {
/// `DML_ROI_POOLING_OPERATOR_DESC`.
///
/// ```
/// use burn_roi::{BinDivision, RoiPoolConfig, directml};
///
/// let config: RoiPoolConfig = directml::RoiPoolingOperatorDesc::new(0.0625, [7, 7]).into();
/// assert_eq!(config.division, BinDivision::Whole);
/// ```
pub struct RoiPoolingOperatorDesc {
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f32,
    /// Height and width of the output.
    pub pooled_size: [usize; 2],
}
RoiPoolConfig::new(pooled_size) with spatial_scale,
    division(BinDivision::Whole),
    // An inverted region has no pixel in DirectML's document.
    minimum_length(None)
}
