//! [`box_iou_rotated`], and [`box_iou_rotated_aligned`] of pairs.

use burn::tensor::{DType, Tensor, TensorData};

use super::OverlapMode;
use super::read::read;
use crate::arguments;
use crate::boxes::upcast_dtype;
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use burn_roi::AngleConvention;
use burn_roi::internal::check_memory;

blocking_forms!(
    /// The overlap of each rotated box of `boxes1` with each rotated box of `boxes2`. Same semantics as
    /// `detectron2.layers.box_iou_rotated`, and as `mmcv.ops.box_iou_rotated` with `aligned=False`.
    ///
    /// - `boxes1`, `boxes2`: `[N, 5]` and `[M, 5]`, each box `[cx, cy, w, h, angle]`: its centre, width and height in
    ///   the same unit, and its angle in the unit and direction of `convention`. Both have the same float dtype.
    /// - `convention`: [`AngleConvention::DEGREES_COUNTER_CLOCKWISE`] or [`AngleConvention::RADIANS_CLOCKWISE`], or any
    ///   other.
    /// - `mode`: what the intersection is divided by. detectron2 has only [`OverlapMode::Iou`].
    /// - Returns `[N, M]`, from 0 to 1. The dtype is the boxes' dtype, or f32 for boxes of f16 and bf16.
    ///
    /// The overlap with an empty box is 0. A box is empty if its width or height is not above 0, or its area is below
    /// 1e-14. If width and height are both negative, detectron2 and mmcv use their absolute values.
    ///
    /// The boxes are read back to the host, which computes in f64 and rounds each overlap once. The result has no
    /// gradient.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi::AngleConvention;
    /// use burn_roi_detection::{OverlapMode, box_iou_rotated};
    ///
    /// let device = Device::default();
    /// let boxes1 = Tensor::<2>::from_floats([[5.0, 5.0, 4.0, 2.0, 90.0]], &device);
    /// let boxes2 = Tensor::<2>::from_floats([[5.0, 5.0, 2.0, 4.0, 0.0], [5.0, 4.0, 2.0, 2.0, 180.0]], &device);
    /// let iou = box_iou_rotated(boxes1, boxes2, AngleConvention::DEGREES_COUNTER_CLOCKWISE, OverlapMode::Iou);
    /// assert_eq!(iou.try_into_vec_as::<f32>().unwrap(), [1.0, 0.5]);
    /// ```
    pub async fn box_iou_rotated(
        boxes1: Tensor<2>,
        boxes2: Tensor<2>,
        convention: AngleConvention,
        mode: OverlapMode,
    ) -> Result<Tensor<2>, DetectionError> {
        //! Async form of [`box_iou_rotated`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `boxes1` or `boxes2` is not `[K, 5]`.
        //! - `RoiError::Device`, `RoiError::DType`: `boxes2` differs from `boxes1` in its device or its dtype.
        //! - [`DetectionError::RotatedBoxNotFinite`]: a box has a coordinate, a size or an angle that is NaN or
        //!   infinite.

        let shape = check(&boxes1, &boxes2)?;
        check_memory("table of overlaps", &shape, DType::F64, &boxes1.device())?;
        let rows = read("boxes1", &boxes1, convention).await?;
        let columns = read("boxes2", &boxes2, convention).await?;
        let overlaps = rows
            .iter()
            .flat_map(|row| columns.iter().map(move |column| row.overlap(column, mode)))
            .collect();
        Ok(like(&boxes1, overlaps, shape))
    }

    /// The overlap of each rotated box of `boxes1` with the one in the same row of `boxes2`. Same semantics as
    /// `mmcv.ops.box_iou_rotated` with `aligned=True`.
    ///
    /// - `boxes1`, `boxes2`: `[N, 5]` both.
    /// - `convention`, `mode`, and everything else: as in [`box_iou_rotated`].
    /// - Returns `[N]`, from 0 to 1, in the dtype of [`box_iou_rotated`].
    ///
    /// With [`AngleConvention::RADIANS_CLOCKWISE`] these are the values of `mmcv.ops.diff_iou_rotated_2d`, for its
    /// boxes `[B, N, 5]` as `[B * N, 5]`. mmcv's function is differentiable, and this one has no gradient. For a pair
    /// of empty boxes mmcv returns NaN, and this function 0.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi::AngleConvention;
    /// use burn_roi_detection::{OverlapMode, box_iou_rotated_aligned};
    ///
    /// let device = Device::default();
    /// let boxes1 = Tensor::<2>::from_floats([[0.0, 0.0, 2.0, 2.0, 0.0], [0.0, 0.0, 2.0, 2.0, 0.0]], &device);
    /// let boxes2 = Tensor::<2>::from_floats([[1.0, 0.0, 2.0, 2.0, 0.0], [9.0, 9.0, 2.0, 2.0, 0.5]], &device);
    /// let iof = box_iou_rotated_aligned(boxes1, boxes2, AngleConvention::RADIANS_CLOCKWISE, OverlapMode::Iof);
    /// assert_eq!(iof.try_into_vec_as::<f32>().unwrap(), [0.5, 0.0]);
    /// ```
    pub async fn box_iou_rotated_aligned(
        boxes1: Tensor<2>,
        boxes2: Tensor<2>,
        convention: AngleConvention,
        mode: OverlapMode,
    ) -> Result<Tensor<1>, DetectionError> {
        //! Async form of [`box_iou_rotated_aligned`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! All errors of [`box_iou_rotated_async`], and [`DetectionError::Length`]: `boxes2` does not have one row for
        //! each row of `boxes1`.

        let [count, length] = check(&boxes1, &boxes2)?;
        arguments::length("boxes2", length, count, "row of `boxes1`")?;
        let first = read("boxes1", &boxes1, convention).await?;
        let second = read("boxes2", &boxes2, convention).await?;
        let overlaps = first
            .iter()
            .zip(&second)
            .map(|(first, second)| first.overlap(second, mode))
            .collect();
        Ok(like(&boxes1, overlaps, [count]))
    }
);

/// Checks the tensors, and returns N and M.
fn check(boxes1: &Tensor<2>, boxes2: &Tensor<2>) -> Result<[usize; 2], DetectionError> {
    let rows = arguments::rotated_boxes("boxes1", boxes1)?;
    let columns = arguments::rotated_boxes("boxes2", boxes2)?;
    arguments::device_and_dtype("boxes2", boxes2, "boxes1", boxes1)?;
    Ok([rows, columns])
}

/// Overlaps as a tensor on the device of `boxes`.
fn like<const D: usize>(boxes: &Tensor<2>, overlaps: Vec<f64>, shape: [usize; D]) -> Tensor<D> {
    let options = (&boxes.device(), upcast_dtype(boxes.dtype()));
    match overlaps.is_empty() {
        true => Tensor::zeros(shape, options),
        false => Tensor::from_data(TensorData::new(overlaps, shape), options),
    }
}
