//! Non-maximum suppression (NMS) of rotated boxes.

use burn::tensor::{DType, Int, Tensor};

use super::OverlapMode;
use super::geometry::RotatedBox;
use super::read::read;
use crate::boxes::upcast_dtype;
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use crate::suppression::{KeptBoxes, suppressed_greedily};
use crate::{arguments, host};
use burn_roi::AngleConvention;

blocking_forms!(
    /// Non-maximum suppression of rotated boxes: keeps the boxes whose intersection over union (IoU) with every kept
    /// box of a higher score is at most `iou_threshold`. The semantics are those of `detectron2.layers.nms_rotated` and
    /// `mmcv.ops.nms_rotated`.
    ///
    /// - `boxes`: `[K, 5]`, each `[cx, cy, w, h, angle]`, in any unit and of any float dtype.
    /// - `scores`: `[K]`, of any float dtype.
    /// - `iou_threshold`: a box is suppressed where the IoU, as [`box_iou_rotated`](super::box_iou_rotated) returns it,
    ///   is above this.
    /// - `convention`: what the angles mean: [`AngleConvention::DEGREES_COUNTER_CLOCKWISE`] or
    ///   [`AngleConvention::RADIANS_CLOCKWISE`], or any other.
    /// - Returns the indices of the kept boxes, by decreasing score, in the device's integer dtype. Of equal scores the
    ///   lower index comes first.
    ///
    /// Where an IoU is equal to the threshold, detectron2 and mmcv keep the box on a GPU and suppress it on a CPU. This
    /// function keeps it on every device.
    ///
    /// Boxes and scores are read back to the host on every device, since sine and cosine on a GPU may differ from the
    /// host's in their last bits. A box whose score is NaN is not kept. An empty box neither suppresses a box nor is
    /// suppressed, unless the threshold is negative.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi::AngleConvention;
    /// use burn_roi_detection::nms_rotated;
    ///
    /// let device = Device::default();
    /// let boxes = Tensor::<2>::from_floats(
    ///     [[5.0, 5.0, 8.0, 2.0, 45.0], [5.0, 5.0, 8.0, 2.0, -45.0], [5.0, 5.0, 8.0, 2.0, 50.0]],
    ///     &device,
    /// );
    /// let scores = Tensor::<1>::from_floats([0.6, 0.7, 0.9], &device);
    /// let kept = nms_rotated(boxes, scores, 0.5, AngleConvention::DEGREES_COUNTER_CLOCKWISE);
    /// assert_eq!(kept.try_into_vec_as::<i32>().unwrap(), [2, 1]);
    /// ```
    pub async fn nms_rotated(
        boxes: Tensor<2>,
        scores: Tensor<1>,
        iou_threshold: f64,
        convention: AngleConvention,
    ) -> Result<Tensor<1, Int>, DetectionError> {
        //! Async form of [`nms_rotated`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `boxes` is not `[K, 5]`.
        //! - [`DetectionError::Length`]: `scores` has not one element for each box.
        //! - `RoiError::Device`: `scores` is on another device than `boxes`.
        //! - `RoiError::Option`: `iou_threshold` is NaN.
        //! - [`DetectionError::RotatedBoxNotFinite`]: a box has a coordinate, a size or an angle that is NaN or
        //!   infinite.

        greedy_nms(&boxes, &scores, None, iou_threshold, convention).await
    }

    /// [`nms_rotated`] within each class: boxes of different classes do not suppress each other. The semantics are
    /// those of `detectron2.layers.batched_nms_rotated`, and of `mmcv.ops.nms_rotated` with `labels`.
    ///
    /// - `boxes`, `scores`, `iou_threshold`, `convention`: as in [`nms_rotated`].
    /// - `classes`: `[K]`, any integers, for example the boxes' labels, pyramid levels or images.
    /// - Returns the indices of the kept boxes of all classes, by decreasing score, in the device's integer dtype. Of
    ///   equal scores the lower index comes first.
    ///
    /// The IoU is computed from the coordinates as they are. detectron2 adds an offset to the coordinates of each
    /// class; the rounding of that sum can change which boxes are kept where an IoU is close to the threshold.
    ///
    /// Boxes, scores and classes are read back to the host. NaN and empty boxes are treated as in [`nms_rotated`].
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_roi::AngleConvention;
    /// use burn_roi_detection::batched_nms_rotated;
    ///
    /// let device = Device::default();
    /// let one = [5.0, 5.0, 8.0, 2.0, 0.3];
    /// let boxes = Tensor::<2>::from_floats([one, one, one], &device);
    /// let scores = Tensor::<1>::from_floats([0.6, 0.7, 0.9], &device);
    /// let classes = Tensor::<1, Int>::from_ints([1, 2, 2], &device);
    /// let kept = batched_nms_rotated(boxes, scores, classes, 0.5, AngleConvention::RADIANS_CLOCKWISE);
    /// assert_eq!(kept.try_into_vec_as::<i32>().unwrap(), [2, 0]);
    /// ```
    pub async fn batched_nms_rotated(
        boxes: Tensor<2>,
        scores: Tensor<1>,
        classes: Tensor<1, Int>,
        iou_threshold: f64,
        convention: AngleConvention,
    ) -> Result<Tensor<1, Int>, DetectionError> {
        //! Async form of [`batched_nms_rotated`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! Those of [`nms_rotated_async`], and [`DetectionError::Length`] and `RoiError::Device` for `classes` as for
        //! `scores`.

        greedy_nms(&boxes, &scores, Some(&classes), iou_threshold, convention).await
    }
);

/// NMS within each class of boxes on a device.
async fn greedy_nms(
    boxes: &Tensor<2>,
    scores: &Tensor<1>,
    classes: Option<&Tensor<1, Int>>,
    iou_threshold: f64,
    convention: AngleConvention,
) -> Result<Tensor<1, Int>, DetectionError> {
    let count = arguments::rotated_boxes("boxes", boxes)?;
    arguments::suppression(boxes, scores, classes, iou_threshold)?;
    let classes = match classes {
        Some(classes) => host::read_ints(classes).await?,
        None => vec![0; count],
    };
    let (device, dtype) = (boxes.device(), upcast_dtype(boxes.dtype()));
    let boxes = read("boxes", boxes, convention).await?;
    let scores = host::read_floats(scores).await?;
    let kept = kept(&boxes, dtype, &scores, |index| classes[index], iou_threshold);
    Ok(host::indices(&kept, &device))
}

/// The kept boxes, by decreasing score. An overlap is rounded to `dtype`.
pub(crate) fn kept(
    boxes: &[RotatedBox],
    dtype: DType,
    scores: &[f64],
    class_of: impl Fn(usize) -> i128 + Sync,
    iou_threshold: f64,
) -> Vec<usize> {
    let by_score = host::top_n(scores, (0..boxes.len()).collect(), usize::MAX);
    let candidate = |index: usize| Candidate {
        rotated: boxes[index],
        dtype,
        iou_threshold,
    };
    suppressed_greedily::<Vec<RotatedBox>, _>(&by_score, candidate, class_of, usize::MAX)
}

/// A box, the dtype of its IoUs, and the IoU above which a kept box suppresses it.
pub(crate) struct Candidate {
    rotated: RotatedBox,
    dtype: DType,
    iou_threshold: f64,
}

impl KeptBoxes for Vec<RotatedBox> {
    type Candidate = Candidate;

    fn len(&self) -> usize {
        self.len()
    }

    fn suppress(&self, candidate: &Candidate, first: usize) -> bool {
        self[first..].iter().any(|better| {
            let iou = better.overlap(&candidate.rotated, OverlapMode::Iou);
            host::rounded(iou, candidate.dtype) > candidate.iou_threshold
        })
    }

    fn push(&mut self, candidate: Candidate) {
        self.push(candidate.rotated);
    }
}
