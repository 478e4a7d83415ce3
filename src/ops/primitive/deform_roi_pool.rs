//! `deform_roi_pool` by backend type parameter.

use burn::backend::tensor::{FloatTensor, IntTensor};

use super::Backward;
use crate::backend::RoiBackend;
use crate::error::{RoiError, or_panic};
use crate::geometry::operator::RegionKind;
use crate::ops::{DeformRoiPoolConfig, backward, call};
use crate::regions::Regions;

/// [`deform_roi_pool`](crate::deform_roi_pool()) on a backend's own tensors. `offsets` are `[K, 2, P, Q]`.
///
/// # Panics
///
/// Where [`try_deform_roi_pool`] gives an error, with its text.
pub fn deform_roi_pool<B: RoiBackend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    offsets: Option<FloatTensor<B>>,
    config: impl Into<DeformRoiPoolConfig>,
) -> FloatTensor<B> {
    or_panic(try_deform_roi_pool::<B>(
        features,
        boxes,
        batch_indices,
        offsets,
        config,
    ))
}

/// [`try_deform_roi_pool`](crate::try_deform_roi_pool) on a backend's own tensors.
///
/// # Errors
///
/// Those of [`try_deform_roi_pool`](crate::try_deform_roi_pool), and those of
/// [`Rois::try_new`](crate::Rois::try_new).
pub fn try_deform_roi_pool<B: RoiBackend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    offsets: Option<FloatTensor<B>>,
    config: impl Into<DeformRoiPoolConfig>,
) -> Result<FloatTensor<B>, RoiError> {
    let operator = config.into().operator(offsets.is_some())?;
    let regions = Regions::try_new(boxes, batch_indices, RegionKind::Box)?;
    call::pool::<B>(
        features,
        call::with_offsets::<B>(regions, offsets, &operator)?,
        operator,
    )
}

/// The gradients of [`deform_roi_pool`]'s features, boxes and offsets from that of its output.
///
/// `output_gradient` has the shape of the output and the dtype of the features.
///
/// # Panics
///
/// Where [`try_deform_roi_pool_backward`] gives an error, with its text.
pub fn deform_roi_pool_backward<B: RoiBackend>(
    output_gradient: FloatTensor<B>,
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    offsets: Option<FloatTensor<B>>,
    config: impl Into<DeformRoiPoolConfig>,
) -> Backward<B> {
    or_panic(try_deform_roi_pool_backward::<B>(
        output_gradient,
        features,
        boxes,
        batch_indices,
        offsets,
        config,
    ))
}

/// [`deform_roi_pool_backward`] for arguments that may be wrong.
///
/// # Errors
///
/// Those of [`try_deform_roi_pool`]; [`RoiError::Shape`], [`RoiError::DType`] or [`RoiError::Device`] for a gradient
/// that does not go with the output; [`RoiError::SecondDerivative`] for tensors on an autodiff device.
pub fn try_deform_roi_pool_backward<B: RoiBackend>(
    output_gradient: FloatTensor<B>,
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    offsets: Option<FloatTensor<B>>,
    config: impl Into<DeformRoiPoolConfig>,
) -> Result<Backward<B>, RoiError> {
    let operator = config.into().operator(offsets.is_some())?;
    let regions = Regions::try_new(boxes, batch_indices, RegionKind::Box)?;
    let regions = call::with_offsets::<B>(regions, offsets, &operator)?;
    backward::of_call::<B>(output_gradient, features, regions, operator)
}
