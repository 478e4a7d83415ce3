//! ONNX `Resize`, and `Upsample`, which it replaced.

mod axis;
mod extent;
mod options;

use burn::tensor::module::interpolate;
use burn::tensor::ops::{InterpolateMode, InterpolateOptions};
use burn::tensor::{Bool, DType, Int, Tensor, TensorData};

use crate::error::DetectionError;
use axis::Taps;
use burn_roi::internal::or_panic;
use extent::Extent;
pub use options::{AspectRatioPolicy, NearestMode, Resize, ResizeMode, ResizeTo, ResizeTransformation};

/// ONNX `Resize` of a tensor of floats, along any axes.
///
/// - `input`: any sizes, f32, f16, bf16 or f64.
/// - `to`: for each axis, or each of [`Resize::axes`], a size or a scale.
/// - `roi`: the starts and then the ends of a region along the same axes, where 0 is the first element and 1 the last.
///   [`ResizeTransformation::TfCropAndResize`] reads it, and every other ignores it.
/// - Returns the resized tensor, in the dtype of `input`.
///
/// Positions are computed in f32 in the order of operations of the specification, as ONNX Runtime 1.32 does. ONNX
/// Runtime ignores `roi` along an axis whose size does not change, and copies a tensor if no size changes, whatever the
/// scales are. This function follows the specification there.
///
/// TensorFlow's `crop_and_resize`, which [`burn_roi::crop_and_resize`](burn_roi::crop_and_resize()) computes, rounds in
/// another order, so that a position at the very end of the input can be outside in one of them. In nearest mode it
/// takes the higher index of two: [`NearestMode::RoundPreferCeil`].
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::onnx::{Resize, ResizeMode, ResizeTo, ResizeTransformation, resize};
///
/// let row = Tensor::<2>::from_floats([[1.0, 2.0, 4.0]], &Device::default());
/// let options = Resize::new()
///     .with_mode(ResizeMode::Linear)
///     .with_transformation(ResizeTransformation::AlignCorners);
/// let longer = resize(row, ResizeTo::Sizes(&[1, 5]), &[], &options);
/// assert_eq!(longer.try_into_vec_as::<f32>().unwrap(), [1.0, 1.5, 2.0, 3.0, 4.0]);
/// ```
///
/// # Panics
///
/// If [`try_resize`] returns an error, with its text.
pub fn resize<const D: usize>(input: Tensor<D>, to: ResizeTo, roi: &[f32], options: &Resize) -> Tensor<D> {
    or_panic(try_resize(input, to, roi, options))
}

/// Fallible form of [`resize`].
///
/// # Errors
///
/// `RoiError::Option`:
///
/// - An axis is not one of `input`, or is there twice.
/// - There are not as many sizes or scales as axes; a size is negative; a scale is not finite or not above 0; an output
///   is larger than 2^31 along an axis.
/// - An axis without elements becomes one with elements.
/// - The transformation reads `roi`, and `roi` does not have two finite values for each axis.
pub fn try_resize<const D: usize>(
    input: Tensor<D>,
    to: ResizeTo,
    roi: &[f32],
    options: &Resize,
) -> Result<Tensor<D>, DetectionError> {
    let dims = input.dims();
    let extents = extent::extents(&dims, to, roi, options)?;
    let sizes: [usize; D] = std::array::from_fn(|axis| extents[axis].output);
    let dtype = input.dtype();
    if matches!(dtype, DType::F16 | DType::BF16) && options.mode != ResizeMode::Nearest {
        // Sums are f32, and rounded once.
        return Ok(try_resize(input.cast(DType::F32), to, roi, options)?.cast(dtype));
    }
    if sizes.contains(&0) {
        return Ok(Tensor::empty(sizes, (&input.device(), input.dtype())));
    }
    if let Some(align_corners) = as_interpolate(&extents, options) {
        return Ok(bilinear(input, [sizes[2], sizes[3]], align_corners));
    }
    let mut output = input;
    let mut outside: Vec<(usize, Vec<bool>)> = Vec::new();
    for (axis, extent) in extents.iter().enumerate() {
        let taps = Taps::new(extent, options);
        if !taps.is_identity(extent.input) {
            output = along(output, axis, &taps);
        }
        if taps.outside.contains(&true) {
            outside.push((axis, taps.outside));
        }
    }
    for (axis, places) in outside {
        let mut shape = [1; D];
        shape[axis] = places.len();
        let mask = Tensor::<D, Bool>::from_data(TensorData::new(places, shape), &output.device());
        output = output.mask_fill(mask.expand(sizes), options.extrapolation_value);
    }
    Ok(output)
}

/// Whether the corners are aligned, if Burn's bilinear interpolation reads the same positions. It is one kernel.
fn as_interpolate(extents: &[Extent], options: &Resize) -> Option<bool> {
    let [images, channels, spatial @ ..] = extents else {
        return None;
    };
    let spatial_alone = images.is_kept() && channels.is_kept() && spatial.len() == 2;
    let fits = spatial_alone && options.mode == ResizeMode::Linear;
    let half_pixel = spatial.iter().all(Extent::has_scale_of_sizes);
    match options.transformation {
        _ if !fits => None,
        ResizeTransformation::HalfPixel if half_pixel => Some(false),
        ResizeTransformation::PytorchHalfPixel if half_pixel && spatial.iter().all(|extent| extent.output > 1) => {
            Some(false)
        }
        ResizeTransformation::AlignCorners => Some(true),
        _ => None,
    }
}

/// Burn's bilinear interpolation of `[N, C, H, W]`.
fn bilinear<const D: usize>(input: Tensor<D>, size: [usize; 2], align_corners: bool) -> Tensor<D> {
    let dims = input.dims();
    let [images, channels, height, width] = std::array::from_fn(|axis| dims[axis]);
    let options = InterpolateOptions::new(InterpolateMode::Bilinear)
        .with_output_size(size)
        .with_align_corners(align_corners);
    let output = interpolate(input.reshape([images, channels, height, width]), options);
    output.reshape(std::array::from_fn(|axis| match axis {
        2 | 3 => size[axis - 2],
        axis => dims[axis],
    }))
}

/// The weighted sum of the elements that each tap reads along an axis.
fn along<const D: usize>(input: Tensor<D>, axis: usize, taps: &Taps) -> Tensor<D> {
    let (device, dtype) = (input.device(), input.dtype());
    let length = taps.of_elements.len();
    let mut shape = [1; D];
    shape[axis] = length;
    let read = |tap: usize| {
        let indices: Vec<i64> = taps.of_elements.iter().map(|taps| taps[tap].0 as i64).collect();
        let weights: Vec<f32> = taps.of_elements.iter().map(|taps| taps[tap].1).collect();
        let indices = Tensor::<1, Int>::from_data(TensorData::new(indices, [length]), (&device, DType::I64));
        let read = input.clone().select(axis, indices);
        if weights.iter().all(|&weight| weight == 1.0) {
            return read;
        }
        let weights = Tensor::<D>::from_data(TensorData::new(weights, shape), (&device, DType::F32));
        read.mul(weights.cast(dtype))
    };
    (1..taps.of_elements[0].len()).fold(read(0), |sum, tap| sum.add(read(tap)))
}
