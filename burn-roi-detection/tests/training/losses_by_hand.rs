//! Losses whose values and gradients can be computed by hand.

use burn::tensor::{DType, Int, Tensor};
use burn_roi_detection::*;

use super::{read_floats, ten_by_ten};
use crate::backends::backends;

const NAN: f32 = f32::NAN;

#[test]
fn losses_of_a_box_head_can_be_seen() {
    for backend in backends() {
        let device = &backend.device.clone().autodiff();
        let class_logits = Tensor::<2>::zeros([2, 3], device).require_grad();
        let box_regression = Tensor::<2>::zeros([2, 12], device).require_grad();
        let labels = vec![Tensor::<1, Int>::from_ints([2, 0], device)];
        // The first distance is a square, 0.5 * 0.05² * 9, the others are lines, 1 - 1 / 18 and 2 - 1 / 18.
        let targets = vec![Tensor::<2>::from_floats([[0.05, 1.0, -2.0, 0.0], [9.0; 4]], device)];
        let losses = fastrcnn_loss(class_logits.clone(), box_regression.clone(), &labels, &targets);
        let gradients = (losses.0.clone() + losses.1.clone()).backward();
        near(&losses.0, &[3.0f64.ln()]);
        near(&losses.1, &[(0.01125 + 3.0 - 1.0 / 9.0) / 2.0]);

        let gradient = class_logits.grad(&gradients).expect("the logits are differentiated");
        let (own, other) = (-1.0 / 3.0, 1.0 / 6.0);
        near(&gradient, &[other, other, own, own, other, other]);
        let gradient = box_regression.grad(&gradients).expect("the deltas are differentiated");
        let mut expected = [0.0; 24];
        // Of the first sample the deltas of class 2. The first is half the distance divided by beta.
        expected[8..11].copy_from_slice(&[-0.225, -0.5, 0.5]);
        near(&gradient, &expected);
    }
}

#[test]
fn background_has_no_box_loss() {
    for backend in backends() {
        let device = &backend.device.clone().autodiff();
        // What is infinite or NaN for background reaches neither the loss nor a gradient.
        let box_regression = Tensor::<2>::from_floats([[NAN; 8], [0.0; 8]], device).require_grad();
        let targets = vec![Tensor::<2>::from_floats(
            [[0.0, 0.0, f32::NEG_INFINITY, NAN], [0.5; 4]],
            device,
        )];
        for labels in [[0, 1], [0, 0]] {
            let labels = vec![Tensor::<1, Int>::from_ints(labels, device)];
            let logits = Tensor::<2>::zeros([2, 2], device);
            let (_, loss) = fastrcnn_loss(logits, box_regression.clone(), &labels, &targets);
            let gradients = loss.backward();
            let gradient = box_regression.grad(&gradients).expect("the deltas are differentiated");
            let background = gradient.slice_dim(0, 0..1);
            assert_eq!(read_floats(&background), [0.0; 8], "{}", backend.name);
            assert!(read_floats(&loss)[0].is_finite(), "{}", backend.name);
        }
    }
}

#[test]
fn ignored_anchors_have_no_loss() {
    for backend in backends() {
        let device = &backend.device.clone().autodiff();
        let objectness = Tensor::<2>::from_floats([[0.0, NAN], [0.0, 0.0]], device).require_grad();
        let deltas = Tensor::<3>::from_floats([[[0.5; 4], [NAN; 4]], [[NAN; 4], [0.0; 4]]], device).require_grad();
        let labels = [[1, -1], [0, 1]].map(|labels| Tensor::<1, Int>::from_ints(labels, device));
        let targets = [[[0.5; 4], [NAN; 4]], [[NAN; 4], [1.0; 4]]].map(|rows| Tensor::<2>::from_floats(rows, device));
        let sampler = BalancedPositiveNegativeSampler::new(256, 0.5);
        let permutation = &mut random_permutations(0);
        let losses = rpn_loss(
            objectness.clone(),
            deltas.clone(),
            &labels,
            &targets,
            &sampler,
            permutation,
        );
        let gradients = (losses.0.clone() + losses.1.clone()).backward();
        near(&losses.0, &[2.0f64.ln()]);
        near(&losses.1, &[4.0 * (1.0 - 1.0 / 18.0) / 3.0]);
        let gradient = objectness.grad(&gradients).expect("the logits are differentiated");
        near(&gradient, &[-1.0 / 6.0, 0.0, 1.0 / 6.0, -1.0 / 6.0]);
        let gradient = deltas.grad(&gradients).expect("the deltas are differentiated");
        let third = -1.0 / 3.0;
        near(&gradient, &[[0.0; 12].as_slice(), &[third; 4]].concat());
    }
}

#[test]
fn only_the_mask_of_the_label_has_a_gradient() {
    for backend in backends() {
        let device = &backend.device.clone().autodiff();
        let mask_logits = Tensor::<4>::zeros([1, 3, 2, 2], device).require_grad();
        let proposals = vec![ten_by_ten(&backend.device)];
        let upper = Tensor::<3>::ones([1, 5, 10], &backend.device);
        let gt_masks = vec![Tensor::cat(vec![upper.clone(), upper.zeros_like()], 1)];
        let gt_labels = vec![Tensor::<1, Int>::from_ints([2], &backend.device)];
        let matched_idxs = vec![Tensor::<1, Int>::from_ints([0], &backend.device)];
        let projected = project_masks_on_boxes(&gt_masks, &proposals, &matched_idxs, 2, &MaskTargets::new());
        // Samples lie at 0.5, 1.5, and so on. The fifth, at 4.5, is halfway to a pixel of 0.
        near(&projected, &[0.9, 0.9, 0.0, 0.0]);

        let loss = maskrcnn_loss(
            mask_logits.clone(),
            &proposals,
            &gt_masks,
            &gt_labels,
            &matched_idxs,
            &MaskTargets::new(),
        );
        near(&loss, &[2.0f64.ln()]);
        let gradient = mask_logits
            .grad(&loss.backward())
            .expect("the logits are differentiated");
        let mut expected = [0.0; 12];
        expected[8..].copy_from_slice(&[-0.1, -0.1, 0.125, 0.125]);
        near(&gradient, &expected);
    }
}

#[test]
fn only_the_heatmaps_of_keypoints_that_count_have_a_gradient() {
    for backend in backends() {
        let device = &backend.device.clone().autodiff();
        // The second heatmap is of a keypoint that is hidden, the third of one outside of the box.
        let heatmaps = [[[[0.0, 0.0], [0.0, 0.0]], [[NAN; 2]; 2], [[NAN; 2]; 2]]];
        let keypoint_logits = Tensor::<4>::from_floats(heatmaps, device).require_grad();
        let proposals = vec![ten_by_ten(device)];
        // The first object is not this proposal's: its NaN is not visible.
        let keypoints = [
            [[NAN, NAN, 0.0]; 3],
            [[7.0, 2.0, 2.0], [7.0, 2.0, 0.0], [11.0, 2.0, 1.0]],
        ];
        let gt_keypoints = vec![Tensor::<3>::from_floats(keypoints, device)];
        let matched_idxs = vec![Tensor::<1, Int>::from_ints([1], device)];
        let loss = keypointrcnn_loss(keypoint_logits.clone(), &proposals, &gt_keypoints, &matched_idxs);
        near(&loss, &[4.0f64.ln()]);
        let gradient = keypoint_logits
            .grad(&loss.backward())
            .expect("the logits are differentiated");
        let mut expected = [0.0; 12];
        // The keypoint is in the second column of the first row.
        expected[..4].copy_from_slice(&[0.25, -0.75, 0.25, 0.25]);
        near(&gradient, &expected);
    }
}

#[test]
fn a_keypoint_at_the_end_of_a_box_is_in_the_last_pixel() {
    for backend in backends() {
        let device = &backend.device.clone().autodiff();
        let keypoints = [[[10.0, 10.0, 1.0], [10.0, 0.0, 1.0], [9.99, 2.5, 1.0], [10.01, 2.5, 1.0]]];
        let keypoints = Tensor::<3>::from_floats(keypoints, device);
        let (pixels, valid) = keypoints_to_heatmap(keypoints, ten_by_ten(device), 4);
        assert!(!pixels.is_autodiff(), "{}", backend.name);
        let pixels: Vec<i64> = pixels.into_data().iter::<i64>().collect();
        assert_eq!(pixels, [15, 3, 7, 0], "{}", backend.name);
        let valid: Vec<bool> = valid.into_data().iter::<bool>().collect();
        assert_eq!(valid, [true, true, true, false], "{}", backend.name);
    }
}

#[test]
fn losses_have_the_dtype_of_what_the_heads_compute() {
    for backend in backends().into_iter().filter(|backend| backend.supports(DType::F16)) {
        let half = (&backend.device, DType::F16);
        let labels = vec![Tensor::<1, Int>::from_ints([1, 0], &backend.device)];
        let targets = vec![Tensor::<2>::ones([2, 4], half)];
        let (logits, deltas) = (Tensor::zeros([2, 2], half), Tensor::zeros([2, 8], half));
        let losses = fastrcnn_loss(logits, deltas, &labels, &targets);
        assert_eq!((losses.0.dtype(), losses.1.dtype()), (DType::F16, DType::F16));
        assert!((read_floats(&losses.0)[0] - 2.0f64.ln()).abs() < 1e-3);

        // The proposals are f32, and so are the projected masks before the loss.
        let gt_masks = vec![Tensor::<3>::ones([1, 16, 16], &backend.device)];
        let gt_labels = vec![Tensor::<1, Int>::from_ints([1], &backend.device)];
        let matched_idxs = vec![Tensor::<1, Int>::from_ints([0], &backend.device)];
        let logits = Tensor::<4>::zeros([1, 2, 4, 4], half);
        let loss = maskrcnn_loss(
            logits,
            &[ten_by_ten(&backend.device)],
            &gt_masks,
            &gt_labels,
            &matched_idxs,
            &MaskTargets::new(),
        );
        assert_eq!(loss.dtype(), DType::F16);
    }
}

#[test]
fn steps_along_the_gradient_lower_the_losses() {
    for backend in backends() {
        let device = &backend.device.clone().autodiff();
        let labels = vec![Tensor::<1, Int>::from_ints([0, 1, 2, 2], device)];
        let targets = vec![Tensor::<2>::ones([4, 4], device) * 0.5];
        let mut class_logits = Tensor::<2>::zeros([4, 3], device);
        let mut box_regression = Tensor::<2>::zeros([4, 12], device);
        let mut history = Vec::new();
        for _ in 0..20 {
            class_logits = class_logits.detach().require_grad();
            box_regression = box_regression.detach().require_grad();
            let losses = fastrcnn_loss(class_logits.clone(), box_regression.clone(), &labels, &targets);
            let loss = losses.0 + losses.1;
            history.push(read_floats(&loss)[0]);
            let gradients = loss.backward();
            let step = |tensor: &Tensor<2>| tensor.grad(&gradients).expect("there should be a gradient") * 0.2;
            class_logits = class_logits.clone() - step(&class_logits);
            box_regression = box_regression.clone() - step(&box_regression);
        }
        assert!(history.is_sorted_by(|before, after| before > after), "{history:?}");
        assert!(history[19] < 0.6 * history[0], "{history:?}");
    }
}

#[track_caller]
fn near<const D: usize>(actual: &Tensor<D>, expected: &[f64]) {
    let actual = read_floats(actual);
    assert_eq!(actual.len(), expected.len());
    let fits = actual
        .iter()
        .zip(expected)
        .all(|(actual, expected)| (actual - expected).abs() < 1e-5);
    assert!(fits, "{actual:?} should be {expected:?}");
}
