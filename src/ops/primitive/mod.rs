//! The operators by backend type parameter, over a backend's own tensors, without dynamic dispatch.
//!
//! The arguments are those of [`Rois`](crate::Rois), one by one: `features` `[N, C, H, W]`, `boxes`
//! `[K, 4]` of the same dtype, `batch_indices` `[K]` of any integer dtype, all on one device. What they
//! compute, and the errors, are those of the functions of the same names on `Tensor`.
//!
//! For [`crop_and_resize`] a box is TensorFlow's `[y1, x1, y2, x2]`, for the others `[x1, y1, x2, y2]`.
//!
//! `Dispatch` is a backend too, so one generic function serves both. All CubeCL runtimes are one type:
//! `Wgpu` and `Cuda` are names of it, and a tensor's device says which is meant.

mod call;
mod multi_scale;

use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};

use crate::backend::RoiBackend;
use crate::error::{RoiError, or_panic};
use crate::ops::{CropAndResizeConfig, RoiAlignConfig, RoiPoolConfig};

use call::Call;
pub use multi_scale::{multi_scale_roi_align, try_multi_scale_roi_align};

/// [`roi_align`](crate::roi_align()) on a backend's own tensors.
///
/// # Panics
///
/// Where [`try_roi_align`] gives an error.
pub fn roi_align<B: RoiBackend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    config: impl Into<RoiAlignConfig>,
) -> FloatTensor<B> {
    or_panic(try_roi_align::<B>(features, boxes, batch_indices, config))
}

/// [`try_roi_align`](crate::try_roi_align) on a backend's own tensors.
///
/// # Errors
///
/// Those of [`try_roi_align`](crate::try_roi_align), and those of [`Rois`](crate::Rois).
pub fn try_roi_align<B: RoiBackend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    config: impl Into<RoiAlignConfig>,
) -> Result<FloatTensor<B>, RoiError> {
    let sampling = config.into().sampling()?;
    let call = Call::<B>::check(features, boxes, batch_indices)?;
    call.run(sampling.output_size, sampling.outside(), |call| {
        B::sample_regions(call.features, call.boxes, call.batch_indices, sampling)
    })
}

/// [`roi_pool`](crate::roi_pool()) on a backend's own tensors.
///
/// # Panics
///
/// Where [`try_roi_pool`] gives an error.
pub fn roi_pool<B: RoiBackend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    config: impl Into<RoiPoolConfig>,
) -> FloatTensor<B> {
    or_panic(try_roi_pool::<B>(features, boxes, batch_indices, config))
}

/// [`try_roi_pool`](crate::try_roi_pool) on a backend's own tensors.
///
/// # Errors
///
/// Those of [`try_roi_pool`](crate::try_roi_pool), and those of [`Rois`](crate::Rois).
pub fn try_roi_pool<B: RoiBackend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    config: impl Into<RoiPoolConfig>,
) -> Result<FloatTensor<B>, RoiError> {
    let bins = config.into().bins()?;
    let call = Call::<B>::check(features, boxes, batch_indices)?;
    call.run(bins.output_size, 0.0, |call| {
        B::pool_regions(call.features, call.boxes, call.batch_indices, bins)
    })
}

/// [`crop_and_resize`](crate::crop_and_resize()) on a backend's own tensors.
///
/// # Panics
///
/// Where [`try_crop_and_resize`] gives an error.
pub fn crop_and_resize<B: RoiBackend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    config: impl Into<CropAndResizeConfig>,
) -> FloatTensor<B> {
    or_panic(try_crop_and_resize::<B>(features, boxes, batch_indices, config))
}

/// [`try_crop_and_resize`](crate::try_crop_and_resize) on a backend's own tensors.
///
/// # Errors
///
/// Those of [`try_crop_and_resize`](crate::try_crop_and_resize), and those of [`Rois`](crate::Rois).
pub fn try_crop_and_resize<B: RoiBackend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    config: impl Into<CropAndResizeConfig>,
) -> Result<FloatTensor<B>, RoiError> {
    let config = config.into();
    let call = Call::<B>::check(features, boxes, batch_indices)?;
    let [_, _, height, width] = call.features.shape().dims();
    let sampling = config.sampling([height, width])?;
    call.run(sampling.output_size, sampling.outside(), |call| {
        B::sample_regions(call.features, call.boxes, call.batch_indices, sampling)
    })
}
