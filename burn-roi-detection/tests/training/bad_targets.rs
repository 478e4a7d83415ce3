//! Errors of what matches, samples and assigns targets.

use burn::tensor::{Int, Tensor};
use burn_roi_detection::*;

use super::{ints, ten_by_ten};
use crate::backends::{Backend, backends};
use crate::bad_input::{assert_error, floats};

#[test]
fn thresholds_of_a_matcher() {
    let device = &backends()[0].device;
    let call = |high, low| Matcher::new(high, low).try_forward(floats([2, 3], device)).map(drop);
    assert!(call(0.5, 0.5).is_ok());
    assert_error(
        call(0.5, 0.6),
        "`low_threshold` is 0.6, but must be at most the threshold of a match",
    );
    assert_error(call(f64::NAN, 0.5), "`high_threshold` is NaN, but must be finite");
    assert_error(
        call(0.5, f64::NEG_INFINITY),
        "`low_threshold` is -inf, but must be finite",
    );

    let boxes = &[ten_by_ten(device)];
    let labels = &[ints([1], device)];
    let matcher = Matcher::new(f64::INFINITY, 0.5);
    let expected = "`high_threshold` is inf, but must be finite";
    assert_error(
        try_assign_targets_to_proposals(boxes, boxes, labels, &matcher),
        expected,
    );
    assert_error(try_assign_targets_to_anchors(&boxes[0], boxes, &matcher), expected);
}

#[test]
fn options_of_a_sampler() {
    let device = &backends()[0].device;
    let labels = &[ints([1, 0, 0], device)];
    let call = |size, fraction| {
        let sampler = BalancedPositiveNegativeSampler::new(size, fraction);
        sampler.try_forward(labels, &mut random_permutations(0)).map(drop)
    };
    assert!(call(1, 0.0).is_ok() && call(1, 1.0).is_ok());
    assert_error(call(0, 0.5), "`batch_size_per_image` is 0, but must be above 0");
    assert_error(call(2, -0.1), "`positive_fraction` is -0.1, but must be from 0 to 1");
    assert_error(call(2, 1.1), "`positive_fraction` is 1.1, but must be from 0 to 1");
    assert_error(call(2, f64::NAN), "`positive_fraction` is NaN, but must be from 0 to 1");
}

#[test]
fn what_is_no_permutation() {
    let device = &backends()[0].device;
    let labels = &[ints([1, 0, 0], device)];
    let sampler = BalancedPositiveNegativeSampler::new(2, 0.5);
    let must = "but must be a function of n that returns each index from 0 to n - 1 once";
    let cases: [(&[usize], &str); 4] = [
        (&[0], "1 indices for n = 2"),
        (&[0, 1, 2], "3 indices for n = 2"),
        (&[0, 2], "2 for n = 2"),
        (&[1, 1], "1 twice for n = 2"),
    ];
    for (order, value) in cases {
        let mut permutation = |count| if count == 2 { order.to_vec() } else { vec![0] };
        assert_error(
            sampler.try_forward(labels, &mut permutation),
            &format!("`permutation` is a function that returns {value}, {must}"),
        );
    }
}

#[test]
fn ground_truth_that_does_not_match() {
    for Backend { device, .. } in &backends() {
        let matcher = Matcher::new(0.5, 0.5);
        let proposals = [ten_by_ten(device)];
        let call = |boxes: &[Tensor<2>], labels: &[Tensor<1, Int>]| {
            try_assign_targets_to_proposals(&proposals, boxes, labels, &matcher).map(drop)
        };
        let labels = || vec![ints([1], device)];
        assert!(call(&proposals, &labels()).is_ok());
        assert_error(
            call(&[], &labels()),
            "`gt_boxes` has length 0, but must have length 1: one for each image of `proposals`",
        );
        assert_error(
            call(&proposals, &[]),
            "`gt_labels` has length 0, but must have length 1: one for each image of `proposals`",
        );
        assert_error(
            call(&proposals, &[ints([1, 2], device)]),
            "`gt_labels` has length 2, but must have length 1: one for each row of `gt_boxes`",
        );
        assert_error(
            call(&[floats([1, 5], device)], &labels()),
            "`gt_boxes` has shape [1, 5], but must have shape [K, 4]",
        );
        assert_error(
            try_assign_targets_to_proposals(&[floats([1, 3], device)], &proposals, &labels(), &matcher),
            "`proposals` has shape [1, 3], but must have shape [K, 4]",
        );
        assert_error(
            try_assign_targets_to_anchors(&floats([1, 3], device), &proposals, &matcher),
            "`anchors` has shape [1, 3], but must have shape [K, 4]",
        );
        for label in [0, -1] {
            assert_error(
                call(&proposals, &[ints([label], device)]),
                &format!("`gt_labels` row 0 of image 0 is {label}, but must be above 0, which is the background"),
            );
        }
    }
}

#[test]
fn ground_truth_boxes_without_a_size() {
    for Backend { device, .. } in &backends() {
        let proposals = [ten_by_ten(device), ten_by_ten(device)];
        let labels = [ints([1], device), ints([1, 2], device)];
        let rows = [
            ([3.0, 0.0, 3.0, 2.0], "[3.0, 0.0, 3.0, 2.0]"),
            ([0.0, 5.0, 3.0, 2.0], "[0.0, 5.0, 3.0, 2.0]"),
            ([0.0, 0.0, f32::NAN, 2.0], "[0.0, 0.0, NaN, 2.0]"),
            ([0.0, 0.0, 3.0, f32::INFINITY], "[0.0, 0.0, 3.0, inf]"),
        ];
        for (row, text) in rows {
            let boxes = Tensor::<2>::from_floats([[0.0, 0.0, 1.0, 1.0], row], device);
            let boxes = [ten_by_ten(device), boxes];
            let expected =
                format!("`gt_boxes` row 1 of image 1 is {text}, but must be finite, with x1 below x2 and y1 below y2");
            let matcher = Matcher::new(0.5, 0.5);
            assert_error(
                try_assign_targets_to_proposals(&proposals, &boxes, &labels, &matcher),
                &expected,
            );
            assert_error(
                try_assign_targets_to_anchors(&proposals[0], &boxes, &matcher),
                &expected,
            );
            let config = TrainingSamplesConfig::new();
            let permutation = &mut random_permutations(0);
            assert_error(
                try_select_training_samples(&proposals, &boxes, &labels, &config, permutation),
                &expected,
            );
        }
    }
}

#[test]
fn options_of_training_samples() {
    let device = &backends()[0].device;
    let (boxes, labels) = ([ten_by_ten(device)], [ints([1], device)]);
    let call = |config: TrainingSamplesConfig| {
        let permutation = &mut random_permutations(0);
        try_select_training_samples(&boxes, &boxes, &labels, &config, permutation).map(drop)
    };
    let config = TrainingSamplesConfig::new;
    assert!(call(config()).is_ok());
    assert_error(
        call(TrainingSamplesConfig {
            bg_iou_threshold: 0.7,
            ..config()
        }),
        "`bg_iou_threshold` is 0.7, but must be at most the threshold of a match",
    );
    assert_error(
        call(TrainingSamplesConfig {
            fg_iou_threshold: f64::NAN,
            ..config()
        }),
        "`fg_iou_threshold` is NaN, but must be finite",
    );
    assert_error(
        call(TrainingSamplesConfig {
            batch_size_per_image: 0,
            ..config()
        }),
        "`batch_size_per_image` is 0, but must be above 0",
    );
    assert!(
        call(TrainingSamplesConfig {
            positive_fraction: 2.0,
            ..config()
        })
        .is_err()
    );
    assert_error(
        call(TrainingSamplesConfig {
            box_weights: [1.0, 0.0, 1.0, 1.0],
            ..config()
        }),
        "`box_weights` is [1.0, 0.0, 1.0, 1.0], but must be finite and not 0",
    );
}
