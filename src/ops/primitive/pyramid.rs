//! Feature pyramids by backend type parameter.

use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::DType;

use super::PyramidBackward;
use crate::backend::RoiBackend;
use crate::error::{RoiError, or_panic};
use crate::ops::{MultiScaleRoiAlignConfig, PyramidConfig, PyramidOperator, backward, call};
use crate::regions::{Regions, RoiTable};

/// [`multi_scale_roi_align`](crate::multi_scale_roi_align()) on a backend's own tensors.
///
/// # Panics
///
/// Where [`try_multi_scale_roi_align`] gives an error, with its text.
pub fn multi_scale_roi_align<B: RoiBackend>(
    features: Vec<FloatTensor<B>>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    scales: &[f64],
    config: impl Into<MultiScaleRoiAlignConfig>,
) -> FloatTensor<B> {
    or_panic(try_multi_scale_roi_align::<B>(
        features,
        boxes,
        batch_indices,
        scales,
        config,
    ))
}

/// [`try_multi_scale_roi_align`](crate::try_multi_scale_roi_align) on a backend's own tensors.
///
/// # Errors
///
/// Those of [`try_multi_scale_roi_align`](crate::try_multi_scale_roi_align), and those of
/// [`Rois::try_new`](crate::Rois::try_new).
pub fn try_multi_scale_roi_align<B: RoiBackend>(
    features: Vec<FloatTensor<B>>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    scales: &[f64],
    config: impl Into<MultiScaleRoiAlignConfig>,
) -> Result<FloatTensor<B>, RoiError> {
    let config = config.into();
    let pyramid = config.pyramid();
    try_multi_scale_pool::<B, 4>(features, boxes, batch_indices, scales, config.roi_align, pyramid)
}

/// The gradients of [`multi_scale_roi_align`]'s features and boxes from that of its output.
///
/// `output_gradient` has the shape of the output and the dtype of the features.
///
/// # Panics
///
/// Where [`try_multi_scale_roi_align_backward`] gives an error, with its text.
pub fn multi_scale_roi_align_backward<B: RoiBackend>(
    output_gradient: FloatTensor<B>,
    features: Vec<FloatTensor<B>>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    scales: &[f64],
    config: impl Into<MultiScaleRoiAlignConfig>,
) -> PyramidBackward<B> {
    or_panic(try_multi_scale_roi_align_backward::<B>(
        output_gradient,
        features,
        boxes,
        batch_indices,
        scales,
        config,
    ))
}

/// [`multi_scale_roi_align_backward`] for arguments that may be wrong.
///
/// # Errors
///
/// Those of [`try_multi_scale_roi_align`]; [`RoiError::Shape`], [`RoiError::DType`] or [`RoiError::Device`] for a
/// gradient that does not go with the output; [`RoiError::SecondDerivative`] for tensors on an autodiff device.
pub fn try_multi_scale_roi_align_backward<B: RoiBackend>(
    output_gradient: FloatTensor<B>,
    features: Vec<FloatTensor<B>>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    scales: &[f64],
    config: impl Into<MultiScaleRoiAlignConfig>,
) -> Result<PyramidBackward<B>, RoiError> {
    let config = config.into();
    let pyramid = config.pyramid();
    let operator = config.roi_align;
    try_multi_scale_pool_backward::<B, 4>(
        output_gradient,
        features,
        boxes,
        batch_indices,
        scales,
        operator,
        pyramid,
    )
}

/// [`multi_scale_pool`](crate::multi_scale_pool()) on a backend's own tensors. `boxes` are `[K, 5]` for
/// [`RoiAlignRotatedConfig`](crate::RoiAlignRotatedConfig), and `[K, 4]` for the others.
///
/// # Panics
///
/// Where [`try_multi_scale_pool`] gives an error, with its text.
pub fn multi_scale_pool<B: RoiBackend, const COLUMNS: usize>(
    features: Vec<FloatTensor<B>>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    scales: &[f64],
    operator: impl PyramidOperator<COLUMNS>,
    pyramid: PyramidConfig,
) -> FloatTensor<B> {
    or_panic(try_multi_scale_pool::<B, COLUMNS>(
        features,
        boxes,
        batch_indices,
        scales,
        operator,
        pyramid,
    ))
}

/// [`try_multi_scale_pool`](crate::try_multi_scale_pool) on a backend's own tensors.
///
/// # Errors
///
/// Those of [`try_multi_scale_pool`](crate::try_multi_scale_pool), and those of
/// [`Rois::try_new`](crate::Rois::try_new).
pub fn try_multi_scale_pool<B: RoiBackend, const COLUMNS: usize>(
    features: Vec<FloatTensor<B>>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    scales: &[f64],
    operator: impl PyramidOperator<COLUMNS>,
    pyramid: PyramidConfig,
) -> Result<FloatTensor<B>, RoiError> {
    let operators = pyramid.operators(features.len(), scales, dtype::<B>(&features), |scale| {
        operator.at_scale(scale)
    })?;
    call::pool_pyramid::<B>(
        features,
        Regions::try_new(boxes, batch_indices, RoiTable::<COLUMNS>::KIND)?,
        operators,
    )
}

/// The gradients of [`multi_scale_pool`]'s features and boxes from that of its output.
///
/// `output_gradient` has the shape of the output and the dtype of the features.
///
/// # Panics
///
/// Where [`try_multi_scale_pool_backward`] gives an error, with its text.
pub fn multi_scale_pool_backward<B: RoiBackend, const COLUMNS: usize>(
    output_gradient: FloatTensor<B>,
    features: Vec<FloatTensor<B>>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    scales: &[f64],
    operator: impl PyramidOperator<COLUMNS>,
    pyramid: PyramidConfig,
) -> PyramidBackward<B> {
    or_panic(try_multi_scale_pool_backward::<B, COLUMNS>(
        output_gradient,
        features,
        boxes,
        batch_indices,
        scales,
        operator,
        pyramid,
    ))
}

/// [`multi_scale_pool_backward`] for arguments that may be wrong.
///
/// # Errors
///
/// Those of [`try_multi_scale_pool`]; [`RoiError::Shape`], [`RoiError::DType`] or [`RoiError::Device`] for a gradient
/// that does not go with the output; [`RoiError::SecondDerivative`] for tensors on an autodiff device.
pub fn try_multi_scale_pool_backward<B: RoiBackend, const COLUMNS: usize>(
    output_gradient: FloatTensor<B>,
    features: Vec<FloatTensor<B>>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    scales: &[f64],
    operator: impl PyramidOperator<COLUMNS>,
    pyramid: PyramidConfig,
) -> Result<PyramidBackward<B>, RoiError> {
    let operators = pyramid.operators(features.len(), scales, dtype::<B>(&features), |scale| {
        operator.at_scale(scale)
    })?;
    let regions = Regions::try_new(boxes, batch_indices, RoiTable::<COLUMNS>::KIND)?;
    backward::of_pyramid::<B>(output_gradient, features, regions, operators)
}

/// The dtype that boxes are measured in. Where there is no level, that is an error of its own.
fn dtype<B: RoiBackend>(features: &[FloatTensor<B>]) -> DType {
    features.first().map_or(DType::F32, TensorMetadata::dtype)
}
