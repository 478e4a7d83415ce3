//! The tensor operations that all kernels use, and the type of their numbers.

use std::ops::{AddAssign, Range};

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{DType, Element, FloatDType, Scalar, Shape, Slice};

use crate::geometry::plan::{ChannelGroup, Coordinate};

/// The type of weights and sums: f32, or f64 for features of f64.
pub trait Number: Coordinate + Element + Into<f64> + AddAssign {
    const DTYPE: FloatDType;
}

impl Number for f32 {
    const DTYPE: FloatDType = FloatDType::F32;
}

impl Number for f64 {
    const DTYPE: FloatDType = FloatDType::F64;
}

/// An output of one value.
pub fn filled<B: Backend>(features: &FloatTensor<B>, shape: Shape, value: f64) -> FloatTensor<B> {
    let (device, dtype): (_, FloatDType) = (features.device(), features.dtype().into());
    match value {
        0.0 => B::float_zeros(shape, &device, dtype),
        value => B::float_full(shape, Scalar::from(value), &device, dtype),
    }
}

/// Where features `[N, C, H, W]` have the window of an image, in the channels that output channels read in a group of
/// elements.
pub fn place(
    image: usize,
    group: &ChannelGroup,
    output_channels: &Range<usize>,
    [rows, columns]: &[Range<usize>; 2],
) -> [Slice; 4] {
    let channel = |output_channel: usize| (group.first_channel + output_channel * group.channel_step) as isize;
    let (first, last) = (channel(output_channels.start), channel(output_channels.end - 1));
    let channels = Slice::new(first, Some(last + 1), group.channel_step as isize);
    let [image, rows, columns] = [image..image + 1, rows.clone(), columns.clone()].map(Slice::from);
    [image, channels, rows, columns]
}

/// Some channels of a tensor `[N, channels, ..]`, or the tensor itself if it has no others.
pub fn of_channels<B: Backend>(tensor: &FloatTensor<B>, channels: Range<usize>) -> FloatTensor<B> {
    if channels.len() == tensor.shape()[1] {
        return tensor.clone();
    }
    B::float_slice(tensor.clone(), &[Slice::full(), Slice::from(channels)])
}

/// Adds a part to some of the elements of sums.
pub fn add_at<B: Backend>(sums: FloatTensor<B>, slices: &[Slice], part: FloatTensor<B>) -> FloatTensor<B> {
    let before = B::float_slice(sums.clone(), slices);
    B::float_slice_assign(sums, slices, B::float_add(before, part))
}

pub fn cast<B: Backend>(tensor: FloatTensor<B>, dtype: FloatDType) -> FloatTensor<B> {
    if tensor.dtype() == dtype.into() {
        return tensor;
    }
    B::float_cast(tensor, dtype)
}

/// The dtype that elements of a dtype are summed in.
pub fn wide(dtype: DType) -> FloatDType {
    match dtype {
        DType::F16 | DType::BF16 => FloatDType::F32,
        dtype => dtype.into(),
    }
}

/// Tensors, one after another along a dimension.
pub fn concatenate<B: Backend>(mut parts: Vec<FloatTensor<B>>, dim: usize) -> FloatTensor<B> {
    match parts.len() {
        1 => parts.remove(0),
        _ => B::float_cat(parts, dim),
    }
}

/// A range in blocks of `block`.
pub fn cut(range: Range<usize>, block: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(block).map(move |start| start..(start + block).min(end))
}
