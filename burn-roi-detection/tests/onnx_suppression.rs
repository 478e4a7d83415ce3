//! ONNX `NonMaxSuppression`. What onnxruntime gives is recorded in the graphs of burn-roi-onnx; here is what these have
//! not: scores that are NaN, no class, and arguments that do not fit.

use burn::tensor::{Int, Tensor, read_sync};
use burn_roi_detection::onnx::{
    NonMaxSuppression, non_max_suppression, non_max_suppression_async, try_non_max_suppression,
};

use crate::backends::backends;
use crate::bad_input::{assert_error, floats};

fn ints(kept: Tensor<2, Int>) -> Vec<i64> {
    kept.into_data().iter::<i64>().collect()
}

#[test]
fn a_nan_score_is_not_kept_and_a_nan_box_suppresses_none() {
    for backend in backends() {
        let device = &backend.device;
        let (one, nan) = ([0.0, 0.0, 4.0, 4.0], [f32::NAN, 0.0, 4.0, 4.0]);
        let boxes = Tensor::<3>::from_floats([[one, nan, one, one]], device);
        let scores = Tensor::<3>::from_floats([[[0.5, 0.9, f32::NAN, 0.4]]], device);
        let options = NonMaxSuppression::new().with_max_output_boxes_per_class(9);
        let kept = non_max_suppression(boxes.clone(), scores.clone(), &options);
        assert_eq!(ints(kept), [0, 0, 1, 0, 0, 0], "{}", backend.name);
        let awaited = read_sync(non_max_suppression_async(boxes, scores, &options)).unwrap();
        assert_eq!(ints(awaited), [0, 0, 1, 0, 0, 0], "{}", backend.name);
    }
}

#[test]
fn without_images_classes_or_boxes_none_is_kept() {
    for backend in backends() {
        let device = &backend.device;
        let options = NonMaxSuppression::new().with_max_output_boxes_per_class(9);
        for [images, classes, boxes] in [[0, 1, 2], [1, 0, 2], [1, 1, 0]] {
            let kept = non_max_suppression(
                floats([images, boxes, 4], device),
                floats([images, classes, boxes], device),
                &options,
            );
            assert_eq!(kept.dims(), [0, 3], "{}", backend.name);
        }
    }
}

#[test]
fn arguments_that_do_not_fit() {
    for backend in backends() {
        let device = &backend.device;
        let call = |boxes: [usize; 3], scores: [usize; 3], iou_threshold: f32| {
            let options = NonMaxSuppression::new().with_iou_threshold(iou_threshold);
            try_non_max_suppression(floats(boxes, device), floats(scores, device), &options)
        };
        assert_error(
            call([1, 2, 5], [1, 1, 2], 0.5),
            "`boxes` has shape [1, 2, 5], but must have shape [N, K, 4]",
        );
        for scores in [[2, 1, 2], [1, 1, 3]] {
            assert_error(
                call([1, 2, 4], scores, 0.5),
                &format!("`scores` has shape {scores:?}, but must have shape [N, C, K], with N and K of `boxes`"),
            );
        }
        for threshold in [-0.1, 1.5, f32::NAN] {
            assert_error(
                call([1, 2, 4], [1, 1, 2], threshold),
                &format!("`iou_threshold` is {threshold}, but must be 0 to 1"),
            );
        }
    }
}
