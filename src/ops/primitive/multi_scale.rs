//! `multi_scale_roi_align` on a backend's own tensors.

use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};

use super::call::Call;
use crate::backend::RoiBackend;
use crate::error::{RoiError, or_panic};
use crate::ops::MultiScaleRoiAlignConfig;

/// [`multi_scale_roi_align`](crate::multi_scale_roi_align()) on a backend's own tensors.
///
/// # Panics
///
/// Where [`try_multi_scale_roi_align`] gives an error.
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
/// [`Rois`](crate::Rois).
pub fn try_multi_scale_roi_align<B: RoiBackend>(
    features: Vec<FloatTensor<B>>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    scales: &[f64],
    config: impl Into<MultiScaleRoiAlignConfig>,
) -> Result<FloatTensor<B>, RoiError> {
    let config = config.into();
    if features.len() != scales.len() || features.is_empty() {
        return Err(RoiError::Levels {
            features: features.len(),
            scales: scales.len(),
        });
    }
    let mut calls = Vec::with_capacity(features.len());
    for features in features {
        let call = Call::<B>::check(features, boxes.clone(), batch_indices.clone())?;
        call.check_level_after(calls.first())?;
        calls.push(call);
    }
    let levels = config.levels(scales, calls[0].features.dtype())?;

    let mut calls = calls.into_iter().zip(levels);
    let (finest, sampling) = calls.next().expect("there is a level");
    let (size, outside) = (sampling.output_size, sampling.outside());
    finest.run(size, outside, |call| {
        let first = B::sample_regions(call.features, call.boxes, call.batch_indices, sampling);
        calls.fold(first, |pooled, (call, sampling)| {
            let (boxes, batch_indices) = (call.boxes, call.batch_indices);
            B::sample_level(pooled, call.features, boxes, batch_indices, sampling)
        })
    })
}
