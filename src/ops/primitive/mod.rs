//! The operators by backend type parameter, over a backend's own tensors, without dynamic dispatch.
//!
//! The arguments are those of [`Rois`](crate::Rois), one by one: `features` `[N, C, H, W]`, `boxes` `[K, 4]` of the
//! same dtype, or of f32 for features of f16 or bf16, `batch_indices` `[K]` of any integer dtype, all on one device.
//! What the functions compute, and their errors, are those of the functions of the same names on `Tensor`; the checks
//! of [`Rois::try_new`](crate::Rois::try_new) are made as well.
//!
//! For [`roi_align_rotated`] `boxes` are `[K, 5]`, as those of [`RotatedRois`](crate::RotatedRois). For
//! [`crop_and_resize`] a box is TensorFlow's `[y1, x1, y2, x2]` unless its config says otherwise, for the others
//! `[x1, y1, x2, y2]`.
//!
//! [`riroi_align_rotated`](crate::riroi_align_rotated()) and [`deform_ps_roi_pool`](crate::deform_ps_roi_pool()) take
//! several operations of tensors, and have no form here.
//!
//! `Dispatch` is a backend too, so one generic function serves both. All CubeCL runtimes are one type:
//! `Wgpu` and `Cuda` are names of it, and a tensor's device says which is meant.

mod deform_roi_pool;
mod pyramid;

use burn::backend::tensor::{FloatTensor, IntTensor};

pub use super::backward::{Backward, PyramidBackward};
use super::{
    CropAndResizeConfig, PrRoiPoolConfig, PsCropAndResizeConfig, PsRoiAlignConfig, PsRoiPoolConfig, RoiAlignConfig,
    RoiAlignRotatedConfig, RoiPoolConfig, backward, call,
};
use crate::backend::RoiBackend;
use crate::error::{RoiError, or_panic};
use crate::regions::Regions;
pub use deform_roi_pool::{
    deform_roi_pool, deform_roi_pool_backward, try_deform_roi_pool, try_deform_roi_pool_backward,
};
pub use pyramid::{
    multi_scale_pool, multi_scale_pool_backward, multi_scale_roi_align, multi_scale_roi_align_backward,
    try_multi_scale_pool, try_multi_scale_pool_backward, try_multi_scale_roi_align, try_multi_scale_roi_align_backward,
};

/// The functions of an operator whose options turn into `$config`.
macro_rules! operator {
    ($name:ident, $try_name:ident, $backward:ident, $try_backward:ident, $config:ty) => {
        #[doc = concat!("[`", stringify!($name), "`](crate::", stringify!($name), "()) on a backend's own tensors.")]
        ///
        /// # Panics
        ///
        #[doc = concat!("Where [`", stringify!($try_name), "`] gives an error, with its text.")]
        pub fn $name<B: RoiBackend>(
            features: FloatTensor<B>,
            boxes: FloatTensor<B>,
            batch_indices: IntTensor<B>,
            config: impl Into<$config>,
        ) -> FloatTensor<B> {
            or_panic($try_name::<B>(features, boxes, batch_indices, config))
        }

        #[doc = concat!("[`", stringify!($try_name), "`](crate::", stringify!($try_name), ")")]
        /// on a backend's own tensors.
        ///
        /// # Errors
        ///
        #[doc = concat!("Those of [`", stringify!($try_name), "`](crate::", stringify!($try_name), "),")]
        /// and those of [`Rois::try_new`](crate::Rois::try_new).
        pub fn $try_name<B: RoiBackend>(
            features: FloatTensor<B>,
            boxes: FloatTensor<B>,
            batch_indices: IntTensor<B>,
            config: impl Into<$config>,
        ) -> Result<FloatTensor<B>, RoiError> {
            let operator = config.into().operator()?;
            call::pool::<B>(
                features,
                Regions::try_new(boxes, batch_indices, operator.region_kind())?,
                operator,
            )
        }

        #[doc = concat!("The gradients of [`", stringify!($name), "`]'s features and boxes from that of its output.")]
        ///
        /// `output_gradient` has the shape of the output and the dtype of the features.
        ///
        /// # Panics
        ///
        #[doc = concat!("Where [`", stringify!($try_backward), "`] gives an error, with its text.")]
        pub fn $backward<B: RoiBackend>(
            output_gradient: FloatTensor<B>,
            features: FloatTensor<B>,
            boxes: FloatTensor<B>,
            batch_indices: IntTensor<B>,
            config: impl Into<$config>,
        ) -> Backward<B> {
            or_panic($try_backward::<B>(
                output_gradient,
                features,
                boxes,
                batch_indices,
                config,
            ))
        }

        #[doc = concat!("[`", stringify!($backward), "`] for arguments that may be wrong.")]
        ///
        /// # Errors
        ///
        #[doc = concat!("Those of [`", stringify!($try_name), "`];")]
        /// [`RoiError::Shape`], [`RoiError::DType`] or [`RoiError::Device`] for a gradient that does not go with the
        /// output; [`RoiError::SecondDerivative`] for tensors on an autodiff device.
        pub fn $try_backward<B: RoiBackend>(
            output_gradient: FloatTensor<B>,
            features: FloatTensor<B>,
            boxes: FloatTensor<B>,
            batch_indices: IntTensor<B>,
            config: impl Into<$config>,
        ) -> Result<Backward<B>, RoiError> {
            let operator = config.into().operator()?;
            backward::of_call::<B>(
                output_gradient,
                features,
                Regions::try_new(boxes, batch_indices, operator.region_kind())?,
                operator,
            )
        }
    };
}

operator!(
    roi_align,
    try_roi_align,
    roi_align_backward,
    try_roi_align_backward,
    RoiAlignConfig
);
operator!(
    roi_pool,
    try_roi_pool,
    roi_pool_backward,
    try_roi_pool_backward,
    RoiPoolConfig
);
operator!(
    crop_and_resize,
    try_crop_and_resize,
    crop_and_resize_backward,
    try_crop_and_resize_backward,
    CropAndResizeConfig
);
operator!(
    ps_roi_align,
    try_ps_roi_align,
    ps_roi_align_backward,
    try_ps_roi_align_backward,
    PsRoiAlignConfig
);
operator!(
    ps_roi_pool,
    try_ps_roi_pool,
    ps_roi_pool_backward,
    try_ps_roi_pool_backward,
    PsRoiPoolConfig
);
operator!(
    prroi_pool,
    try_prroi_pool,
    prroi_pool_backward,
    try_prroi_pool_backward,
    PrRoiPoolConfig
);

operator!(
    ps_crop_and_resize,
    try_ps_crop_and_resize,
    ps_crop_and_resize_backward,
    try_ps_crop_and_resize_backward,
    PsCropAndResizeConfig
);
operator!(
    roi_align_rotated,
    try_roi_align_rotated,
    roi_align_rotated_backward,
    try_roi_align_rotated_backward,
    RoiAlignRotatedConfig
);
