//! Errors of the losses.

use burn::tensor::{DType, Int, Tensor};
use burn_roi_detection::*;

use super::{ints, ten_by_ten};
use crate::backends::{Backend, backends};
use crate::bad_input::{assert_error, floats};

#[test]
fn inputs_of_fastrcnn_loss_that_do_not_match() {
    for Backend { device, .. } in &backends() {
        let call = |logits: [usize; 2], deltas: [usize; 2], labels: &[Tensor<1, Int>], targets: &[[usize; 2]]| {
            let targets: Vec<_> = targets.iter().map(|&shape| floats(shape, device)).collect();
            try_fastrcnn_loss(floats(logits, device), floats(deltas, device), labels, &targets).map(drop)
        };
        let labels = [ints([0, 1], device), ints([1], device)];
        assert!(call([3, 2], [3, 8], &labels, &[[2, 4], [1, 4]]).is_ok());
        assert_error(
            call([3, 2], [2, 8], &labels, &[[2, 4], [1, 4]]),
            "`box_regression` has length 2, but must have length 3: one for each row of `class_logits`",
        );
        assert_error(
            call([3, 2], [3, 12], &labels, &[[2, 4], [1, 4]]),
            "`box_regression` has shape [3, 12], but must have shape [K, 4 * classes] or [K, 4], \
             where `class_logits` is [K, classes]",
        );
        assert_error(
            call([4, 2], [4, 8], &labels, &[[2, 4], [1, 4]]),
            "`labels` has length 3, but must have length 4: one for each row of `class_logits`",
        );
        assert_error(
            call([3, 2], [3, 8], &labels, &[[2, 4]]),
            "`regression_targets` has length 1, but must have length 2: one for each image of `labels`",
        );
        assert_error(
            call([3, 2], [3, 8], &labels, &[[1, 4], [2, 4]]),
            "`regression_targets` has length 1, but must have length 2: one for each row of `labels`",
        );
        assert_error(
            call([3, 2], [3, 8], &labels, &[[2, 4], [1, 5]]),
            "`regression_targets` has shape [1, 5], but must have shape [K, 4]",
        );
        for label in [2, -1] {
            assert_error(
                call(
                    [3, 2],
                    [3, 8],
                    &[ints([0, 1], device), ints([label], device)],
                    &[[2, 4], [1, 4]],
                ),
                &format!("`labels` row 2 is {label}, but must be at least 0 and below the 2 classes"),
            );
        }
    }
}

#[test]
fn inputs_of_rpn_loss_that_do_not_match() {
    for Backend { device, .. } in &backends() {
        let sampler = BalancedPositiveNegativeSampler::new(256, 0.5);
        let call = |deltas: [usize; 3], labels: &[Tensor<1, Int>], targets: &[[usize; 2]]| {
            let targets: Vec<_> = targets.iter().map(|&shape| floats(shape, device)).collect();
            let (objectness, deltas) = (floats([2, 3], device), floats(deltas, device));
            let permutation = &mut random_permutations(0);
            try_rpn_loss(objectness, deltas, labels, &targets, &sampler, permutation).map(drop)
        };
        let labels = [ints([0, 1, -1], device), ints([0, 0, 0], device)];
        assert!(call([2, 3, 4], &labels, &[[3, 4], [3, 4]]).is_ok());
        assert_error(
            call([3, 2, 4], &labels, &[[3, 4], [3, 4]]),
            "`pred_bbox_deltas` has shape [3, 2, 4], but must have shape [N, A, 4], where `objectness` is [N, A]",
        );
        assert_error(
            call([2, 3, 4], &labels[..1], &[[3, 4], [3, 4]]),
            "`labels` has length 1, but must have length 2: one for each image of `objectness`",
        );
        assert_error(
            call([2, 3, 4], &labels, &[[3, 4]]),
            "`regression_targets` has length 1, but must have length 2: one for each image of `objectness`",
        );
        assert_error(
            call(
                [2, 3, 4],
                &[ints([0, 1], device), ints([0, 0, 0], device)],
                &[[3, 4], [3, 4]],
            ),
            "`labels` has length 2, but must have length 3: one for each column of `objectness`",
        );
        assert_error(
            call([2, 3, 4], &labels, &[[3, 4], [2, 4]]),
            "`regression_targets` has length 2, but must have length 3: one for each column of `objectness`",
        );
        assert_error(
            call(
                [2, 3, 4],
                &[ints([0, 1, 0], device), ints([0, 2, 0], device)],
                &[[3, 4], [3, 4]],
            ),
            "`labels` row 1 of image 1 is 2, but must be -1, 0 or 1",
        );
    }
}

#[test]
fn inputs_of_maskrcnn_loss_that_do_not_match() {
    for Backend { device, .. } in &backends() {
        let masks = |shape: [usize; 3]| vec![floats(shape, device)];
        let call = |logits: [usize; 4], masks: &[Tensor<3>], labels: &[Tensor<1, Int>], rows: &[Tensor<1, Int>]| {
            try_maskrcnn_loss(
                floats(logits, device),
                &[ten_by_ten(device)],
                masks,
                labels,
                rows,
                &MaskTargets::new(),
            )
            .map(drop)
        };
        let (labels, rows) = ([ints([1, 2], device)], [ints([1], device)]);
        assert!(call([1, 3, 4, 4], &masks([2, 8, 8]), &labels, &rows).is_ok());
        for (shape, text) in [([1, 3, 4, 5], "[1, 3, 4, 5]"), ([1, 3, 0, 0], "[1, 3, 0, 0]")] {
            assert_error(
                call(shape, &masks([2, 8, 8]), &labels, &rows),
                &format!("`mask_logits` has shape {text}, but must have shape [K, classes, M, M], with M above 0"),
            );
        }
        assert_error(
            call([2, 3, 4, 4], &masks([2, 8, 8]), &labels, &rows),
            "`proposals` has length 1, but must have length 2: one for each row of `mask_logits`",
        );
        assert_error(
            call([1, 3, 4, 4], &[], &labels, &rows),
            "`gt_masks` has length 0, but must have length 1: one for each image of `proposals`",
        );
        assert_error(
            call([1, 3, 4, 4], &masks([3, 8, 8]), &labels, &rows),
            "`gt_labels` has length 2, but must have length 3: one for each mask of `gt_masks`",
        );
        assert_error(
            call([1, 3, 4, 4], &masks([2, 0, 8]), &labels, &rows),
            "`gt_masks` has shape [2, 0, 8], but must have shape [G, H, W], with H and W above 0 where there are \
             proposals",
        );
        assert_error(
            call([1, 3, 4, 4], &masks([2, 8, 8]), &labels, &[ints([0, 1], device)]),
            "`mask_matched_idxs` has length 2, but must have length 1: one for each row of `proposals`",
        );
        assert_error(
            call([1, 3, 4, 4], &masks([2, 8, 8]), &labels, &[ints([2], device)]),
            "`mask_matched_idxs` row 0 of image 0 is 2, but must be at least 0 and below the 2 masks of this image",
        );
        assert_error(
            call([1, 2, 4, 4], &masks([2, 8, 8]), &labels, &rows),
            "`gt_labels` row 1 of image 0 is 2, but must be above 0, which is the background, and below the 2 classes",
        );
        assert_error(
            call([1, 3, 4, 4], &masks([2, 8, 8]), &labels, &[]),
            "`mask_matched_idxs` has length 0, but must have length 1: one for each image of `proposals`",
        );
        assert_error(
            try_project_masks_on_boxes(&[], &[], &[], 4, &MaskTargets::new()),
            "`proposals` is an empty list, but must have one entry for each image",
        );
    }
}

#[test]
fn inputs_of_projected_masks_that_do_not_match() {
    for Backend { device, .. } in &backends() {
        let (masks, rows) = ([floats([1, 8, 8], device)], [ints([0], device)]);
        for size in [0, 32768] {
            assert_error(
                try_project_masks_on_boxes(&masks, &[ten_by_ten(device)], &rows, size, &MaskTargets::new()),
                &format!("`discretization_size` is {size}, but must be 1 to 32767"),
            );
        }
        let boxes = [Tensor::<2>::from_floats([[0.0, f32::NAN, 4.0, 4.0]], device)];
        assert_error(
            try_project_masks_on_boxes(&masks, &boxes, &rows, 4, &MaskTargets::new()),
            "`proposals` row 0 of image 0 is [0.0, NaN, 4.0, 4.0], but must be finite",
        );
    }
}

#[test]
#[cfg(all(feature = "flex", feature = "ndarray"))]
fn devices_that_differ() {
    use burn::tensor::Device;
    use burn_roi::RoiError;
    use burn_roi_detection::DetectionError;

    #[allow(deprecated)]
    let (left, right) = (&Device::flex(), &Device::ndarray());
    let on_right = |result: Result<(), DetectionError>| {
        assert!(
            matches!(result, Err(DetectionError::Roi(RoiError::Device { .. }))),
            "{result:?}"
        );
    };
    let (boxes, labels) = ([ten_by_ten(left)], [ints([1], left)]);
    let (far_boxes, far_labels) = ([ten_by_ten(right)], [ints([1], right)]);
    let matcher = Matcher::new(0.5, 0.5);
    on_right(try_assign_targets_to_proposals(&boxes, &far_boxes, &far_labels, &matcher).map(drop));
    on_right(try_assign_targets_to_proposals(&boxes, &boxes, &far_labels, &matcher).map(drop));
    on_right(try_assign_targets_to_anchors(&boxes[0], &far_boxes, &matcher).map(drop));

    let class_loss = |deltas: &Device, labels: &[_], targets: &[_]| {
        try_fastrcnn_loss(floats([1, 2], left), floats([1, 8], deltas), labels, targets).map(drop)
    };
    on_right(class_loss(right, &labels, &boxes));
    on_right(class_loss(left, &far_labels, &boxes));
    on_right(class_loss(left, &labels, &far_boxes));

    let sampler = BalancedPositiveNegativeSampler::new(256, 0.5);
    let region_loss = |deltas: &Device, labels: &[_], targets: &[_]| {
        let (objectness, deltas) = (floats([1, 1], left), floats([1, 1, 4], deltas));
        let permutation = &mut random_permutations(0);
        try_rpn_loss(objectness, deltas, labels, targets, &sampler, permutation).map(drop)
    };
    on_right(region_loss(right, &labels, &boxes));
    on_right(region_loss(left, &far_labels, &boxes));
    on_right(region_loss(left, &labels, &far_boxes));

    let (masks, far_masks) = ([floats([1, 8, 8], left)], [floats([1, 8, 8], right)]);
    let (rows, far_rows) = ([ints([0], left)], [ints([0], right)]);
    let mask_loss = |boxes: &[_], masks: &[_], labels: &[_], rows: &[_]| {
        try_maskrcnn_loss(
            floats([1, 2, 4, 4], left),
            boxes,
            masks,
            labels,
            rows,
            &MaskTargets::new(),
        )
        .map(drop)
    };
    on_right(mask_loss(&far_boxes, &masks, &labels, &rows));
    on_right(mask_loss(&boxes, &far_masks, &labels, &rows));
    on_right(mask_loss(&boxes, &masks, &far_labels, &rows));
    on_right(mask_loss(&boxes, &masks, &labels, &far_rows));
    // A device with autodiff is the same device.
    let autodiff = &left.clone().autodiff();
    let losses = try_fastrcnn_loss(floats([1, 2], left), floats([1, 8], autodiff), &labels, &boxes);
    assert!(losses.is_ok());
}

#[test]
fn dtypes_that_differ() {
    for backend in &backends() {
        if !backend.supports(DType::F64) {
            continue;
        }
        let device = &backend.device;
        let double = [Tensor::<2>::zeros([1, 4], (device, DType::F64))];
        let (boxes, labels) = ([ten_by_ten(device)], [ints([1], device)]);
        let matcher = Matcher::new(0.5, 0.5);
        assert_error(
            try_assign_targets_to_proposals(&boxes, &double, &labels, &matcher),
            "`gt_boxes` is of dtype F64, but must be of F32, as `proposals` is",
        );
        assert_error(
            try_assign_targets_to_anchors(&boxes[0], &double, &matcher),
            "`gt_boxes` is of dtype F64, but must be of F32, as `anchors` is",
        );
        assert_error(
            try_fastrcnn_loss(floats([1, 2], device), floats([1, 8], device), &labels, &double),
            "`regression_targets` is of dtype F64, but must be of F32, as `box_regression` is",
        );
        let sampler = BalancedPositiveNegativeSampler::new(256, 0.5);
        let (objectness, deltas) = (floats([1, 1], device), floats([1, 1, 4], device));
        let permutation = &mut random_permutations(0);
        assert_error(
            try_rpn_loss(objectness, deltas, &labels, &double, &sampler, permutation),
            "`regression_targets` is of dtype F64, but must be of F32, as `pred_bbox_deltas` is",
        );
    }
}

#[test]
#[should_panic(expected = "`box_regression` has length 1, but must have length 0: one for each row of `class_logits`")]
fn panics_have_the_text_of_the_error() {
    let device = &backends()[0].device;
    fastrcnn_loss(floats([0, 2], device), floats([1, 8], device), &[], &[]);
}
