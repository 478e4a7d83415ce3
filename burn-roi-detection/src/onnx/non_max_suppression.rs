//! ONNX `NonMaxSuppression`.

use burn::tensor::{DType, Int, Tensor, TensorData};

use super::per_class;
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use crate::{arguments, greedy_nms, host, upcast_dtype};
use burn_roi::config;

config! {
/// The attribute of ONNX `NonMaxSuppression` (opsets 10 and 11) and its inputs that are numbers, with their defaults.
#[derive(Debug, PartialEq)]
pub struct NonMaxSuppression {
    /// Whether boxes are `[x_center, y_center, width, height]`, instead of `[y1, x1, y2, x2]` with any two diagonal
    /// corners.
    pub center_point_box: bool = false,
    /// How many boxes are kept at most of each class of each image. Without it, or with a number below 1, none is kept.
    pub max_output_boxes_per_class: i64 = 0,
    /// A box is suppressed if its IoU with a kept box is above this; 0 to 1.
    pub iou_threshold: f32 = 0.0,
    /// A box is left out unless its score is above this. Without it no box is left out.
    pub score_threshold: Option<f32> = None,
}
}

blocking_forms!(
    /// ONNX `NonMaxSuppression`: NMS of each class of each image, as onnxruntime 1.31 computes it.
    ///
    /// - `boxes`: `[N, K, 4]`, of N images, in the format that [`NonMaxSuppression::center_point_box`] says and in any
    ///   unit.
    /// - `scores`: `[N, C, K]`: the scores of an image's boxes for each of C classes.
    /// - Both are of any float dtype. They are read back to the host. It computes the IoU in f64 for boxes of f64,
    ///   which ONNX does not have, and in f32 for all others.
    /// - Returns `[M, 3]`, the image, the class and the box of each kept one, in the device's integer dtype. They are
    ///   ordered by image, then by class, then by decreasing score. Of equal scores the lower index of the box comes
    ///   first.
    ///
    /// A box whose score is NaN is not kept. A box with a NaN coordinate neither suppresses a box nor is suppressed.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::onnx;
    ///
    /// let device = Device::default();
    /// let boxes = Tensor::<3>::from_floats([[[0.0, 0.0, 10.0, 10.0], [0.0, 0.0, 10.0, 9.0]]], &device);
    /// let scores = Tensor::<3>::from_floats([[[0.6, 0.9], [0.4, 0.1]]], &device);
    /// let options = onnx::NonMaxSuppression::new()
    ///     .with_max_output_boxes_per_class(10)
    ///     .with_iou_threshold(0.5)
    ///     .with_score_threshold(Some(0.3));
    /// let kept = onnx::non_max_suppression(boxes, scores, &options);
    /// assert_eq!(kept.try_into_vec_as::<i32>().unwrap(), [0, 0, 1, 0, 1, 0]);
    /// ```
    pub async fn non_max_suppression(
        boxes: Tensor<3>,
        scores: Tensor<3>,
        options: &NonMaxSuppression,
    ) -> Result<Tensor<2, Int>, DetectionError> {
        //! Async form of [`non_max_suppression`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `boxes` is not `[N, K, 4]`, or `scores` is not `[N, C, K]`.
        //! - `RoiError::Device`: `scores` is on another device than `boxes`.
        //! - `RoiError::Option`: `iou_threshold` is not in 0 to 1.

        let [_, classes, count] = per_class::check(&boxes, &scores, 4, "[N, K, 4]")?;
        let threshold = options.iou_threshold;
        arguments::check("iou_threshold", (0.0..=1.0).contains(&threshold), threshold, "0 to 1")?;
        let (device, dtype) = (boxes.device(), boxes.dtype());
        let limit = usize::try_from(options.max_output_boxes_per_class).unwrap_or(0);
        if limit == 0 || count == 0 || classes == 0 {
            return Ok(Tensor::from_data(TensorData::new(Vec::<i64>::new(), [0, 3]), &device));
        }
        let rows = host::read_rows(&boxes).await?.into_iter();
        let corners = rows.map(|row| corners(row, dtype, options.center_point_box));
        let corners: Vec<[f64; 4]> = corners.collect();
        let scores = host::read_floats(&scores).await?;
        let least = options.score_threshold.map(f64::from);
        let kept = |boxes: &[[f64; 4]], scores: &[f64]| {
            let is_above = |&index: &usize| least.is_none_or(|least| scores[index] > least);
            let candidates = (0..count).filter(is_above).collect();
            greedy_nms(candidates, boxes, dtype, scores, |_| 0, threshold.into(), limit)
        };
        Ok(per_class::indices(&corners, &scores, [classes, count], kept, &device))
    }
);

/// A box as x1, y1, x2, y2. The operations are those of onnxruntime, in f64 for boxes of f64 and in f32 for others.
fn corners([first, second, third, fourth]: [f64; 4], dtype: DType, center_point_box: bool) -> [f64; 4] {
    let rounded = |value: f64| host::rounded(value, upcast_dtype(dtype));
    let ends = |from: f64, to: f64| if from > to { [to, from] } else { [from, to] };
    let around = |center: f64, length: f64| {
        let half = rounded(length / 2.0);
        [rounded(center - half), rounded(center + half)]
    };
    let ([x1, x2], [y1, y2]) = if center_point_box {
        (around(first, third), around(second, fourth))
    } else {
        (ends(second, fourth), ends(first, third))
    };
    [x1, y1, x2, y2]
}
