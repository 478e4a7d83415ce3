//! Errors of the functions for rotated boxes.

#[cfg(all(feature = "flex", feature = "ndarray"))]
use burn::tensor::Device;
use burn::tensor::{DType, Int, Tensor};
#[cfg(all(feature = "flex", feature = "ndarray"))]
use burn_roi::RoiError;
use burn_roi_detection::DetectionError;
use burn_roi_detection::*;

use super::DEGREES;
use crate::backends::{Backend, backends};
use crate::bad_input::{assert_error, floats};

const IOU: OverlapMode = OverlapMode::Iou;

#[test]
fn boxes_of_four_columns() {
    for Backend { device, .. } in &backends() {
        let four = || floats([2, 4], device);
        let boxes = || floats([2, 5], device);
        let text = |name| format!("`{name}` has shape [2, 4], but must have shape [K, 5]");
        assert_error(try_box_iou_rotated(four(), boxes(), DEGREES, IOU), &text("boxes1"));
        assert_error(try_box_iou_rotated(boxes(), four(), DEGREES, IOU), &text("boxes2"));
        assert_error(
            try_box_iou_rotated_aligned(four(), boxes(), DEGREES, IOU),
            &text("boxes1"),
        );
        assert_error(
            try_box_iou_rotated_aligned(boxes(), four(), DEGREES, IOU),
            &text("boxes2"),
        );
        assert_error(
            try_nms_rotated(four(), floats([2], device), 0.5, DEGREES),
            &text("boxes"),
        );
    }
}

#[test]
fn lengths_that_differ() {
    for Backend { device, .. } in &backends() {
        let boxes = || floats([2, 5], device);
        assert_error(
            try_box_iou_rotated_aligned(boxes(), floats([3, 5], device), DEGREES, IOU),
            "`boxes2` has length 3, but must have length 2: one for each row of `boxes1`",
        );
        assert_error(
            try_nms_rotated(boxes(), floats([3], device), 0.5, DEGREES),
            "`scores` has length 3, but must have length 2: one for each row of `boxes`",
        );
        let classes = Tensor::<1, Int>::from_ints([1], device);
        assert_error(
            try_batched_nms_rotated(boxes(), floats([2], device), classes, 0.5, DEGREES),
            "`classes` has length 1, but must have length 2: one for each row of `boxes`",
        );
    }
}

#[test]
fn values_that_are_not_finite() {
    for Backend { device, .. } in &backends() {
        let whole = || Tensor::<2>::from_floats([[1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0]], device);
        for column in 0..5 {
            for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let mut row = [1.0, 2.0, 3.0, 4.0, 5.0];
                row[column] = value;
                let text = |name| format!("`{name}` row 1 is {row:?}, but must be finite");
                let wrong = || Tensor::<2>::from_floats([[1.0, 2.0, 3.0, 4.0, 5.0], row], device);
                assert_error(try_box_iou_rotated(wrong(), whole(), DEGREES, IOU), &text("boxes1"));
                assert_error(try_box_iou_rotated(whole(), wrong(), DEGREES, IOU), &text("boxes2"));
                assert_error(
                    try_box_iou_rotated_aligned(wrong(), whole(), DEGREES, IOU),
                    &text("boxes1"),
                );
                assert_error(
                    try_box_iou_rotated_aligned(whole(), wrong(), DEGREES, IOU),
                    &text("boxes2"),
                );
                assert_error(
                    try_nms_rotated(wrong(), floats([2], device), 0.5, DEGREES),
                    &text("boxes"),
                );
                let classes = Tensor::<1, Int>::from_ints([1, 1], device);
                let kept = try_batched_nms_rotated(wrong(), floats([2], device), classes, 0.5, DEGREES);
                assert_error(kept, &text("boxes"));
            }
        }
    }
}

#[test]
fn a_threshold_of_nan() {
    let device = &backends()[0].device;
    assert_error(
        try_nms_rotated(floats([2, 5], device), floats([2], device), f64::NAN, DEGREES),
        "`iou_threshold` is NaN, but must be a number",
    );
}

#[test]
fn dtypes_that_differ() {
    for backend in &backends() {
        if !backend.supports(DType::F64) {
            continue;
        }
        let device = &backend.device;
        let double = || Tensor::<2>::zeros([2, 5], (device, DType::F64));
        let expected = "`boxes2` is of dtype F64, but must be of F32, as `boxes1` is";
        assert_error(
            try_box_iou_rotated(floats([2, 5], device), double(), DEGREES, IOU),
            expected,
        );
        assert_error(
            try_box_iou_rotated_aligned(floats([2, 5], device), double(), DEGREES, IOU),
            expected,
        );
    }
}

#[test]
#[cfg(all(feature = "flex", feature = "ndarray"))]
fn devices_that_differ() {
    #[allow(deprecated)]
    let (left, right) = (&Device::flex(), &Device::ndarray());
    let on_right = |result: Result<(), DetectionError>| {
        assert!(
            matches!(result, Err(DetectionError::Roi(RoiError::Device { .. }))),
            "{result:?}"
        );
    };
    let boxes = |device| floats::<2>([2, 5], device);
    on_right(try_box_iou_rotated(boxes(left), boxes(right), DEGREES, IOU).map(drop));
    on_right(try_box_iou_rotated_aligned(boxes(left), boxes(right), DEGREES, IOU).map(drop));
    on_right(try_nms_rotated(boxes(left), floats([2], right), 0.5, DEGREES).map(drop));
    let classes = Tensor::<1, Int>::from_ints([1, 1], right);
    on_right(try_batched_nms_rotated(boxes(left), floats([2], left), classes, 0.5, DEGREES).map(drop));
}
