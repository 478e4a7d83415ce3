//! Non-maximum suppression (NMS).

use burn::tensor::{Int, Tensor};

use super::suppression::greedy_nms;
#[cfg(feature = "cube")]
use super::suppression::kept_on_device;
use super::{arguments, host};
use crate::error::DetectionError;
use crate::forms::blocking_forms;

blocking_forms!(
    /// Non-maximum suppression: keeps the boxes whose intersection over union (IoU) with every kept box of a higher
    /// score is at most `iou_threshold`. The semantics are those of `torchvision.ops.nms`.
    ///
    /// - `boxes`: `[K, 4]`, each `[x1, y1, x2, y2]`, in any unit and of any float dtype.
    /// - `scores`: `[K]`, of any float dtype.
    /// - `iou_threshold`: a box is suppressed where the IoU is above this.
    /// - Returns the indices of the kept boxes, by decreasing score, in the device's integer dtype. Of equal scores the
    ///   lower index comes first.
    ///
    /// The IoU is computed in f64 for boxes of f64, and in f32 for all others. A box whose score is NaN is not kept. A
    /// box with a NaN coordinate neither suppresses a box nor is suppressed, as in torchvision.
    ///
    /// # Where it runs
    ///
    /// On a GPU (wgpu, Vulkan, Metal, WebGPU, CUDA, ROCm) kernels suppress the boxes, and the host reads only the
    /// number of kept boxes back. This crate needs the feature of the GPU's runtime for it. The host does these calls
    /// instead, and keeps exactly the same boxes:
    ///
    /// - more than 65,536 boxes, since the kernels compare all scores with each other;
    /// - boxes or scores of f64, or classes of integers below 32 bits;
    /// - a threshold below 0 or above 1;
    /// - a coordinate that is not finite, has a magnitude above 2^62, or one below 2^-28 without being 0.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::nms;
    ///
    /// let device = Device::default();
    /// let boxes = Tensor::<2>::from_floats(
    ///     [[0.0, 0.0, 10.0, 10.0], [50.0, 0.0, 60.0, 10.0], [0.0, 0.0, 10.0, 9.0]],
    ///     &device,
    /// );
    /// let scores = Tensor::<1>::from_floats([0.6, 0.7, 0.9], &device);
    /// let kept = nms(boxes, scores, 0.5);
    /// assert_eq!(kept.try_into_vec_as::<i32>().unwrap(), [2, 1]);
    /// ```
    pub async fn nms(
        boxes: Tensor<2>,
        scores: Tensor<1>,
        iou_threshold: f64,
    ) -> Result<Tensor<1, Int>, DetectionError> {
        //! Async form of [`nms`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `boxes` is not `[K, 4]`.
        //! - [`DetectionError::Length`]: `scores` has not one element for each box.
        //! - `RoiError::Device`: `scores` is on another device than `boxes`.
        //! - `RoiError::Option`: `iou_threshold` is NaN.

        kept::<4>(&boxes, &scores, None, iou_threshold).await
    }

    /// [`nms`] within each class: boxes of different classes do not suppress each other. The semantics are those of
    /// `torchvision.ops.batched_nms`.
    ///
    /// - `boxes`, `scores`, `iou_threshold`: as in [`nms`].
    /// - `classes`: `[K]`, any integers, for example the boxes' labels, pyramid levels or images.
    /// - Returns the indices of the kept boxes of all classes, by decreasing score, in the device's integer dtype. Of
    ///   equal scores the lower index comes first.
    ///
    /// The IoU is computed from the coordinates as they are. torchvision does the same for more than 1,000 boxes on a
    /// CPU, but leaves the order of equal scores open. For fewer boxes it adds an offset to the coordinates of each
    /// class; the rounding of that sum can change which boxes are kept where an IoU is close to the threshold.
    ///
    /// The precision of the IoU and the treatment of NaN are those of [`nms`]. It runs where [`nms`] runs; the classes
    /// are read back to the host if the boxes are.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_roi_detection::batched_nms;
    ///
    /// let device = Device::default();
    /// let one = [0.0, 0.0, 10.0, 10.0];
    /// let boxes = Tensor::<2>::from_floats([one, one, one], &device);
    /// let scores = Tensor::<1>::from_floats([0.6, 0.7, 0.9], &device);
    /// let classes = Tensor::<1, Int>::from_ints([1, 2, 2], &device);
    /// let kept = batched_nms(boxes, scores, classes, 0.5);
    /// assert_eq!(kept.try_into_vec_as::<i32>().unwrap(), [2, 0]);
    /// ```
    pub async fn batched_nms(
        boxes: Tensor<2>,
        scores: Tensor<1>,
        classes: Tensor<1, Int>,
        iou_threshold: f64,
    ) -> Result<Tensor<1, Int>, DetectionError> {
        //! Async form of [`batched_nms`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! Those of [`nms_async`], and [`DetectionError::Length`] and `RoiError::Device` for `classes` as for `scores`.

        kept::<4>(&boxes, &scores, Some(&classes), iou_threshold).await
    }

    /// [`nms`] of boxes of three axes, as nnDetection's `nms` (`nndet.core.boxes`) does it on CUDA, where the IoU is
    /// always computed in f32. nnDetection's form for CPUs also drops a box whose IoU with a kept box is NaN.
    ///
    /// - `boxes`: `[K, 6]`, each `[x1, y1, x2, y2, z1, z2]`, in any unit and of any float dtype. In a volume
    ///   `[N, C, D, H, W]`, x is along W, y along H and z along D.
    /// - `scores`: `[K]`, of any float dtype.
    /// - `iou_threshold`: a box is suppressed where the IoU, the volume of the intersection divided by the volume of
    ///   the union, is above this.
    /// - Returns the indices of the kept boxes, by decreasing score, in the device's integer dtype. Of equal scores the
    ///   lower index comes first.
    ///
    /// The precision of the IoU and the treatment of NaN are those of [`nms`]. It runs where [`nms`] runs, by the same
    /// kernels. A product of three sides leaves the range of f32 earlier than a product of two, so the host also does
    /// calls with
    ///
    /// - a threshold below 2^-26 or above 1;
    /// - a coordinate that is not finite, has a magnitude above 2^41, or one below 2^-100 without being 0;
    /// - a volume below 2^-56 of a box whose three sides are above 0.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::nms_3d;
    ///
    /// let device = Device::default();
    /// let boxes = Tensor::<2>::from_floats(
    ///     [[0.0, 0.0, 10.0, 10.0, 0.0, 5.0], [0.0, 0.0, 10.0, 10.0, 5.0, 9.0], [0.0, 0.0, 10.0, 10.0, 0.0, 4.0]],
    ///     &device,
    /// );
    /// let scores = Tensor::<1>::from_floats([0.6, 0.7, 0.9], &device);
    /// let kept = nms_3d(boxes, scores, 0.5);
    /// assert_eq!(kept.try_into_vec_as::<i32>().unwrap(), [2, 1]);
    /// ```
    pub async fn nms_3d(
        boxes: Tensor<2>,
        scores: Tensor<1>,
        iou_threshold: f64,
    ) -> Result<Tensor<1, Int>, DetectionError> {
        //! Async form of [`nms_3d`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! Those of [`nms_async`], with a shape of `[K, 6]`.

        kept::<6>(&boxes, &scores, None, iou_threshold).await
    }

    /// [`nms_3d`] within each class: boxes of different classes do not suppress each other.
    ///
    /// - `boxes`, `scores`, `iou_threshold`: as in [`nms_3d`].
    /// - `classes`: `[K]`, any integers, for example the boxes' labels, pyramid levels or images.
    /// - Returns the indices of the kept boxes of all classes, by decreasing score, in the device's integer dtype. Of
    ///   equal scores the lower index comes first.
    ///
    /// The IoU is computed from the coordinates as they are. nnDetection's `batched_nms` adds an offset to the
    /// coordinates of each class; the rounding of that sum can change which boxes are kept where an IoU is close to the
    /// threshold.
    ///
    /// It runs where [`nms_3d`] runs; the classes are read back to the host if the boxes are.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_roi_detection::batched_nms_3d;
    ///
    /// let device = Device::default();
    /// let one = [0.0, 0.0, 10.0, 10.0, 0.0, 5.0];
    /// let boxes = Tensor::<2>::from_floats([one, one, one], &device);
    /// let scores = Tensor::<1>::from_floats([0.6, 0.7, 0.9], &device);
    /// let classes = Tensor::<1, Int>::from_ints([1, 2, 2], &device);
    /// let kept = batched_nms_3d(boxes, scores, classes, 0.5);
    /// assert_eq!(kept.try_into_vec_as::<i32>().unwrap(), [2, 0]);
    /// ```
    pub async fn batched_nms_3d(
        boxes: Tensor<2>,
        scores: Tensor<1>,
        classes: Tensor<1, Int>,
        iou_threshold: f64,
    ) -> Result<Tensor<1, Int>, DetectionError> {
        //! Async form of [`batched_nms_3d`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! Those of [`batched_nms_async`], with a shape of `[K, 6]`.

        kept::<6>(&boxes, &scores, Some(&classes), iou_threshold).await
    }
);

/// NMS of boxes of this many columns, 4 or 6, that are all of one class if there are no `classes`.
async fn kept<const COLUMNS: usize>(
    boxes: &Tensor<2>,
    scores: &Tensor<1>,
    classes: Option<&Tensor<1, Int>>,
    iou_threshold: f64,
) -> Result<Tensor<1, Int>, DetectionError> {
    let count = arguments::rows::<COLUMNS>("boxes", boxes)?;
    arguments::suppression(boxes, scores, classes, iou_threshold)?;
    #[cfg(feature = "cube")]
    if let Some(kept) = kept_on_device(boxes, scores, classes, iou_threshold).await? {
        return Ok(kept);
    }
    let classes = match classes {
        Some(classes) => host::read_ints(classes).await?,
        None => vec![0; count],
    };
    let kept = greedy_nms(
        (0..count).collect(),
        &host::read_rows::<2, COLUMNS>(boxes).await?,
        boxes.dtype(),
        &host::read_floats(scores).await?,
        |index| classes[index],
        iou_threshold,
        usize::MAX,
    );
    Ok(host::indices(&kept, &boxes.device()))
}
