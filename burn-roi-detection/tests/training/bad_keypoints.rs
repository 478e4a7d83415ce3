//! Errors of the targets and the loss of keypoints.

use burn::tensor::{DType, Int, Tensor};
use burn_roi_detection::*;

use super::{ints, ten_by_ten};
use crate::backends::{Backend, backends};
use crate::bad_input::{assert_error, floats};

const NAN: f32 = f32::NAN;

#[test]
fn inputs_of_keypointrcnn_loss_that_do_not_match() {
    for Backend { device, .. } in &backends() {
        let call = |logits: [usize; 4], keypoints: &[Tensor<3>], rows: &[Tensor<1, Int>]| {
            try_keypointrcnn_loss(floats(logits, device), &[ten_by_ten(device)], keypoints, rows).map(drop)
        };
        let (keypoints, rows) = ([floats([2, 3, 3], device)], [ints([1], device)]);
        assert!(call([1, 3, 4, 4], &keypoints, &rows).is_ok());
        for (shape, text) in [([1, 3, 4, 5], "[1, 3, 4, 5]"), ([1, 3, 0, 0], "[1, 3, 0, 0]")] {
            assert_error(
                call(shape, &keypoints, &rows),
                &format!("`keypoint_logits` has shape {text}, but must have shape [K, P, M, M], with M above 0"),
            );
        }
        assert_error(
            call([2, 3, 4, 4], &keypoints, &rows),
            "`proposals` has length 1, but must have length 2: one for each row of `keypoint_logits`",
        );
        assert_error(
            call([1, 3, 4, 4], &[], &rows),
            "`gt_keypoints` has length 0, but must have length 1: one for each image of `proposals`",
        );
        assert_error(
            call([1, 3, 4, 4], &keypoints, &[]),
            "`keypoint_matched_idxs` has length 0, but must have length 1: one for each image of `proposals`",
        );
        assert_error(
            call([1, 3, 4, 4], &[floats([2, 3, 2], device)], &rows),
            "`gt_keypoints` has shape [2, 3, 2], but must have shape [K, P, 3]",
        );
        assert_error(
            call([1, 2, 4, 4], &keypoints, &rows),
            "`gt_keypoints` has shape [2, 3, 3], but must have shape [G, P, 3], where `keypoint_logits` is \
             [K, P, M, M]",
        );
        assert_error(
            call([1, 3, 4, 4], &keypoints, &[ints([0, 1], device)]),
            "`keypoint_matched_idxs` has length 2, but must have length 1: one for each row of `proposals`",
        );
        for row in [2, -1] {
            assert_error(
                call([1, 3, 4, 4], &keypoints, &[ints([row], device)]),
                &format!(
                    "`keypoint_matched_idxs` row 0 of image 0 is {row}, but must be at least 0 and below the 2 \
                     objects of this image"
                ),
            );
        }
    }
}

#[test]
fn keypoints_and_boxes_that_are_not_finite() {
    for Backend { device, .. } in &backends() {
        let fault = |keypoint: [f32; 3], value: &str| {
            let keypoints = Tensor::<3>::from_floats([[[0.0; 3]; 2], [[0.0; 3], keypoint]], device);
            let rows = [ints([1], device)];
            assert_error(
                try_keypointrcnn_loss(floats([1, 2, 4, 4], device), &[ten_by_ten(device)], &[keypoints], &rows),
                &format!(
                    "`gt_keypoints` row 1 of image 0 is {value}, but must be finite if it is visible, and its \
                     visibility not NaN"
                ),
            );
        };
        fault([NAN, 1.0, 1.0], "[NaN, 1.0, 1.0]");
        fault([1.0, f32::INFINITY, 2.0], "[1.0, inf, 2.0]");
        fault([1.0, 1.0, NAN], "[1.0, 1.0, NaN]");
        let rois = Tensor::<2>::from_floats([[0.0, 0.0, f32::INFINITY, 1.0]], device);
        assert_error(
            try_keypoints_to_heatmap(floats([1, 2, 3], device), rois, 4),
            "`rois` row 0 of image 0 is [0.0, 0.0, inf, 1.0], but must be finite",
        );
    }
}

#[test]
fn inputs_of_keypoints_to_heatmap_that_do_not_match() {
    for Backend { device, .. } in &backends() {
        let call = |keypoints: [usize; 3], rois: [usize; 2], size: usize| {
            try_keypoints_to_heatmap(floats(keypoints, device), floats(rois, device), size).map(drop)
        };
        assert!(call([2, 0, 3], [2, 4], 1).is_ok());
        for size in [0, 32768] {
            assert_error(
                call([2, 3, 3], [2, 4], size),
                &format!("`heatmap_size` is {size}, but must be 1 to 32767"),
            );
        }
        assert_error(
            call([2, 3, 3], [2, 5], 4),
            "`rois` has shape [2, 5], but must have shape [K, 4]",
        );
        assert_error(
            call([2, 3, 2], [2, 4], 4),
            "`keypoints` has shape [2, 3, 2], but must have shape [K, P, 3]",
        );
        assert_error(
            call([3, 3, 3], [2, 4], 4),
            "`keypoints` has length 3, but must have length 2: one for each row of `rois`",
        );
    }
}

#[test]
fn keypoints_of_another_dtype_than_the_proposals() {
    for Backend { device, .. } in backends().iter().filter(|backend| backend.supports(DType::F64)) {
        let keypoints = Tensor::<3>::zeros([1, 2, 3], (device, DType::F64));
        assert_error(
            try_keypoints_to_heatmap(keypoints.clone(), floats([1, 4], device), 4),
            "`rois` is of dtype F32, but must be of F64, as `keypoints` is",
        );
        let (logits, rows) = (floats([1, 2, 4, 4], device), [ints([0], device)]);
        assert_error(
            try_keypointrcnn_loss(logits, &[ten_by_ten(device)], &[keypoints], &rows),
            "`gt_keypoints` is of dtype F64, but must be of F32, as `proposals` is",
        );
    }
}
