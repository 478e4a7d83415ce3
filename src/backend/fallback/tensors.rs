//! The tensor operations that all kernels use, and the type of their numbers.

use std::ops::{AddAssign, Range};

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{Element, FloatDType, Scalar, Shape, Slice};

use crate::geometry::plan::Coordinate;

/// The type of weights and sums: f32, or f64 for features of f64.
pub trait Sum: Coordinate + Element + Into<f64> + AddAssign {
    const DTYPE: FloatDType;
}

impl Sum for f32 {
    const DTYPE: FloatDType = FloatDType::F32;
}

impl Sum for f64 {
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

/// Every `step`th channel of features, beginning with channel `first`.
pub fn every_channel<B: Backend>(features: &FloatTensor<B>, first: usize, step: usize) -> FloatTensor<B> {
    if step == 1 {
        return features.clone();
    }
    let channels = Slice::new(first as isize, None, step as isize);
    B::float_slice(
        features.clone(),
        &[Slice::full(), channels, Slice::full(), Slice::full()],
    )
}

pub fn cast<B: Backend>(tensor: FloatTensor<B>, dtype: FloatDType) -> FloatTensor<B> {
    if tensor.dtype() == dtype.into() {
        return tensor;
    }
    B::float_cast(tensor, dtype)
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
