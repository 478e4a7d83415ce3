//! Matches, samples and targets, compared with torchvision's.

use burn_roi_detection::*;

use crate::cases::{Case, check_all};

#[test]
fn matches_are_those_of_torchvision() {
    check_all("matcher", |case, backend| {
        let quality = case.floats("quality", &backend.device);
        let matcher = matcher(case);
        case.assert_ints(0, matcher.forward(quality.clone()), backend);
        let matcher = matcher.with_allow_low_quality_matches(true);
        case.assert_ints(1, matcher.forward(quality), backend);
    });
}

#[test]
fn samples_are_those_of_torchvision() {
    check_all("sampler", |case, backend| {
        let labels = case.int_list("labels", &backend.device);
        let sampler = sampler(case);
        let (positive, negative) = sampler.forward(&labels, &mut case.permutations());
        assert_eq!(2 * positive.len(), case.results());
        for (image, (positive, negative)) in positive.into_iter().zip(negative).enumerate() {
            case.assert_ints(2 * image, positive, backend);
            case.assert_ints(2 * image + 1, negative, backend);
        }
    });
}

#[test]
fn targets_of_proposals_are_those_of_torchvision() {
    check_all("assign_proposals", |case, backend| {
        let proposals = case.list("proposals", &backend.device);
        let gt_boxes = case.list("gt_boxes", &backend.device);
        let gt_labels = case.int_list("gt_labels", &backend.device);
        let (matched_idxs, labels) = assign_targets_to_proposals(&proposals, &gt_boxes, &gt_labels, &matcher(case));
        assert_eq!(2 * labels.len(), case.results());
        for (image, (matched_idxs, labels)) in matched_idxs.into_iter().zip(labels).enumerate() {
            case.assert_ints(2 * image, matched_idxs, backend);
            case.assert_ints(2 * image + 1, labels, backend);
        }
    });
}

#[test]
fn targets_of_anchors_are_those_of_torchvision() {
    check_all("assign_anchors", |case, backend| {
        let anchors = case.floats("anchors", &backend.device);
        let gt_boxes = case.list("gt_boxes", &backend.device);
        let matcher = Matcher::new(0.7, 0.3).with_allow_low_quality_matches(true);
        let (labels, boxes) = assign_targets_to_anchors(&anchors, &gt_boxes, &matcher);
        assert_eq!(2 * labels.len(), case.results());
        for (image, (labels, boxes)) in labels.into_iter().zip(boxes).enumerate() {
            case.assert_ints(2 * image, labels, backend);
            case.assert_floats(2 * image + 1, boxes, 0.0, backend);
        }
    });
}

#[test]
fn training_samples_are_those_of_torchvision() {
    check_all("samples", |case, backend| {
        let config = TrainingSamplesConfig {
            bg_iou_threshold: case.option("low"),
            batch_size_per_image: case.option("size"),
            positive_fraction: case.option("fraction"),
            box_weights: case.option("weights"),
            ..TrainingSamplesConfig::new()
        };
        let samples = select_training_samples(
            &case.list("proposals", &backend.device),
            &case.list("gt_boxes", &backend.device),
            &case.int_list("gt_labels", &backend.device),
            &config,
            &mut case.permutations(),
        );
        let images = samples.proposals.len();
        assert_eq!(4 * images, case.results());
        for image in 0..images {
            case.assert_floats(4 * image, samples.proposals[image].clone(), 0.0, backend);
            case.assert_ints(4 * image + 1, samples.matched_idxs[image].clone(), backend);
            case.assert_ints(4 * image + 2, samples.labels[image].clone(), backend);
            let targets = samples.regression_targets[image].clone();
            case.assert_floats(4 * image + 3, targets, 1e-4, backend);
        }
    });
}

fn matcher(case: &Case) -> Matcher {
    Matcher::new(case.option("high_threshold"), case.option("low_threshold"))
}

fn sampler(case: &Case) -> BalancedPositiveNegativeSampler {
    BalancedPositiveNegativeSampler::new(case.option("batch_size_per_image"), case.option("positive_fraction"))
}
