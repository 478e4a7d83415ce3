//! Matches, samples and targets of small cases, and of those where torchvision fails or gives NaN.

use burn::tensor::{DType, Int, Tensor, TensorData};
use burn_roi_detection::*;

use super::{read_floats, read_ints, ten_by_ten};
use crate::backends::backends;

const NAN: f32 = f32::NAN;

#[test]
fn nan_is_no_match() {
    for backend in backends() {
        let quality = [[0.9, NAN, 0.2, NAN], [NAN, 0.8, NAN, NAN], [NAN, NAN, NAN, NAN]];
        let quality = Tensor::<2>::from_floats(quality, &backend.device);
        let matcher = Matcher::new(0.7, 0.3);
        assert_eq!(read_ints(&matcher.forward(quality.clone())), [0, 1, -1, -1]);
        let matcher = matcher.with_allow_low_quality_matches(true);
        assert_eq!(read_ints(&matcher.forward(quality)), [0, 1, -1, -1]);
    }
}

#[test]
fn without_ground_truth_every_prediction_is_background() {
    for backend in backends() {
        let matcher = Matcher::new(0.7, 0.3).with_allow_low_quality_matches(true);
        let none = matcher.forward(Tensor::zeros([0, 3], &backend.device));
        assert_eq!(read_ints(&none), [-1; 3]);
        let none = matcher.forward(Tensor::zeros([3, 0], &backend.device));
        assert_eq!(none.dims(), [0]);
    }
}

#[test]
fn an_image_may_have_no_proposals() {
    for backend in backends() {
        let (proposals, gt_boxes) = (
            vec![Tensor::zeros([0, 4], &backend.device)],
            vec![ten_by_ten(&backend.device)],
        );
        let gt_labels = vec![Tensor::from_ints([1], &backend.device)];
        let matcher = Matcher::new(0.5, 0.5);
        let (matched_idxs, labels) = assign_targets_to_proposals(&proposals, &gt_boxes, &gt_labels, &matcher);
        assert_eq!((matched_idxs[0].dims(), labels[0].dims()), ([0], [0]));
        let (labels, boxes) = assign_targets_to_anchors(&proposals[0], &gt_boxes, &matcher);
        assert_eq!((labels[0].dims(), boxes[0].dims()), ([0], [0, 4]));
    }
}

#[test]
fn labels_may_have_any_integer_dtype() {
    for backend in backends() {
        for dtype in [DType::U8, DType::I32, DType::I64] {
            if !backend.device.supports_dtype(dtype) {
                continue;
            }
            let data = TensorData::new(vec![200u8], [1]);
            let gt_labels = vec![Tensor::<1, Int>::from_data(data, (&backend.device, dtype))];
            let proposals = [[0.0, 0.0, 10.0, 10.0], [0.0, 0.0, 10.0, 5.0], [20.0, 0.0, 30.0, 10.0]];
            let proposals = vec![Tensor::<2>::from_floats(proposals, &backend.device)];
            let gt_boxes = vec![ten_by_ten(&backend.device)];
            let matcher = Matcher::new(0.7, 0.3);
            let (_, labels) = assign_targets_to_proposals(&proposals, &gt_boxes, &gt_labels, &matcher);
            assert_eq!(read_ints(&labels[0]), [200, -1, 0], "{} {dtype:?}", backend.name);
        }
    }
}

#[test]
fn positive_samples_are_those_that_are_not_background() {
    for backend in backends() {
        let proposals = [[0.0, 0.0, 10.0, 9.0], [50.0, 0.0, 60.0, 10.0], [0.0, 0.0, 9.0, 10.0]];
        let proposals = vec![
            Tensor::<2>::from_floats(proposals, &backend.device),
            ten_by_ten(&backend.device),
        ];
        let gt_boxes = vec![ten_by_ten(&backend.device), Tensor::zeros([0, 4], &backend.device)];
        let gt_labels = vec![
            Tensor::<1, Int>::from_ints([4], &backend.device),
            Tensor::zeros([0], &backend.device),
        ];
        let config = TrainingSamplesConfig {
            positive_fraction: 1.0,
            ..TrainingSamplesConfig::new()
        };
        let permutation = &mut random_permutations(0);
        let samples = select_training_samples(&proposals, &gt_boxes, &gt_labels, &config, permutation);
        assert_eq!(read_ints(&samples.labels[0]), [4, 0, 4, 4]);

        let positive = samples.positive();
        assert_eq!(read_ints(&positive.labels[0]), [4, 4, 4]);
        assert_eq!(read_ints(&positive.matched_idxs[0]), [0, 0, 0]);
        let second = positive.proposals[0].clone().slice_dim(0, 1..2);
        assert_eq!(read_floats(&second), [0.0, 0.0, 9.0, 10.0]);
        assert_eq!(positive.regression_targets[0].dims(), [3, 4]);
        assert_eq!(positive.proposals[1].dims(), [0, 4]);
        assert_eq!(positive.labels[1].dims(), [0]);
    }
}
