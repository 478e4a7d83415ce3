//! The asynchronous form of each function gives what the blocking one gives.

use burn::tensor::{Device, Distribution, Int, Tensor, read_sync};
use burn_roi_detection::*;

use super::{ints, read_floats, read_ints};
use crate::backends::backends;

struct Truth {
    proposals: Vec<Tensor<2>>,
    boxes: Vec<Tensor<2>>,
    labels: Vec<Tensor<1, Int>>,
    masks: Vec<Tensor<3>>,
}

fn truth(device: &Device) -> Truth {
    let proposals = [[0.0, 0.0, 9.0, 9.0], [50.0, 0.0, 60.0, 10.0], [20.0, 20.0, 30.0, 31.0]];
    let boxes = [[20.0, 20.0, 30.0, 30.0], [0.0, 0.0, 10.0, 10.0]];
    Truth {
        proposals: vec![Tensor::from_floats(proposals, device)],
        boxes: vec![Tensor::from_floats(boxes, device)],
        labels: vec![ints([3, 2], device)],
        masks: vec![Tensor::random([2, 40, 64], Distribution::Default, device)],
    }
}

#[test]
fn targets_and_samples() {
    for backend in backends() {
        let truth = truth(&backend.device);
        let matcher = Matcher::new(0.5, 0.5);
        let blocking = assign_targets_to_proposals(&truth.proposals, &truth.boxes, &truth.labels, &matcher);
        let awaited = assign_targets_to_proposals_async(&truth.proposals, &truth.boxes, &truth.labels, &matcher);
        let awaited = read_sync(awaited).unwrap();
        assert_eq!(read_ints(&blocking.0[0]), read_ints(&awaited.0[0]), "{}", backend.name);
        assert_eq!(read_ints(&blocking.1[0]), [2, 0, 3], "{}", backend.name);
        assert_eq!(read_ints(&awaited.1[0]), [2, 0, 3], "{}", backend.name);

        let anchors = &truth.proposals[0];
        let blocking = assign_targets_to_anchors(anchors, &truth.boxes, &matcher);
        let awaited = read_sync(assign_targets_to_anchors_async(anchors, &truth.boxes, &matcher)).unwrap();
        assert_eq!(read_ints(&blocking.0[0]), read_ints(&awaited.0[0]), "{}", backend.name);
        assert_eq!(
            read_floats(&blocking.1[0]),
            read_floats(&awaited.1[0]),
            "{}",
            backend.name
        );

        let sampler = BalancedPositiveNegativeSampler::new(2, 0.5);
        let blocking = sampler.forward(&awaited.0, &mut random_permutations(4));
        let drawn = read_sync(sampler.forward_async(&awaited.0, &mut random_permutations(4))).unwrap();
        assert_eq!(read_ints(&blocking.0[0]), read_ints(&drawn.0[0]), "{}", backend.name);
        assert_eq!(read_ints(&blocking.1[0]), read_ints(&drawn.1[0]), "{}", backend.name);
    }
}

#[test]
fn losses_of_samples() {
    for backend in backends() {
        let device = &backend.device;
        let truth = truth(device);
        let config = TrainingSamplesConfig::new();
        let samples = select_training_samples(
            &truth.proposals,
            &truth.boxes,
            &truth.labels,
            &config,
            &mut random_permutations(1),
        );
        let permutation = &mut random_permutations(1);
        let awaited =
            select_training_samples_async(&truth.proposals, &truth.boxes, &truth.labels, &config, permutation);
        let awaited = read_sync(awaited).unwrap();
        assert_eq!(
            read_ints(&samples.labels[0]),
            read_ints(&awaited.labels[0]),
            "{}",
            backend.name
        );

        let count = samples.labels[0].dims()[0];
        let logits = Tensor::<2>::random([count, 4], Distribution::Default, device);
        let deltas = Tensor::<2>::random([count, 16], Distribution::Default, device);
        let targets = &samples.regression_targets;
        let blocking = fastrcnn_loss(logits.clone(), deltas.clone(), &samples.labels, targets);
        let awaited = read_sync(fastrcnn_loss_async(logits, deltas, &samples.labels, targets)).unwrap();
        assert_eq!(read_floats(&blocking.0), read_floats(&awaited.0), "{}", backend.name);
        assert_eq!(read_floats(&blocking.1), read_floats(&awaited.1), "{}", backend.name);

        let positive = samples.positive();
        let awaited = read_sync(samples.positive_async()).unwrap();
        assert_eq!(
            read_ints(&positive.labels[0]),
            read_ints(&awaited.labels[0]),
            "{}",
            backend.name
        );

        let count = positive.labels[0].dims()[0];
        let logits = Tensor::<4>::random([count, 4, 7, 7], Distribution::Default, device);
        let matched = &positive.matched_idxs;
        let projected = project_masks_on_boxes(&truth.masks, &positive.proposals, matched, 7, &MaskTargets::new());
        let awaited = read_sync(project_masks_on_boxes_async(
            &truth.masks,
            &positive.proposals,
            matched,
            7,
            &MaskTargets::new(),
        ));
        assert_eq!(
            read_floats(&projected),
            read_floats(&awaited.unwrap()),
            "{}",
            backend.name
        );

        let (proposals, masks, labels) = (&positive.proposals, &truth.masks, &truth.labels);
        let blocking = maskrcnn_loss(logits.clone(), proposals, masks, labels, matched, &MaskTargets::new());
        let awaited = read_sync(maskrcnn_loss_async(
            logits,
            proposals,
            masks,
            labels,
            matched,
            &MaskTargets::new(),
        ))
        .unwrap();
        assert_eq!(read_floats(&blocking), read_floats(&awaited), "{}", backend.name);
    }
}

#[test]
fn losses_of_keypoints() {
    for backend in backends() {
        let device = &backend.device;
        let rois = Tensor::<2>::from_floats([[0.0, 0.0, 10.0, 10.0]], device);
        let keypoints = Tensor::<3>::from_floats([[[3.0, 4.0, 1.0], [1.0, 9.0, 2.0]]], device);
        let blocking = keypoints_to_heatmap(keypoints.clone(), rois.clone(), 5);
        let awaited = read_sync(keypoints_to_heatmap_async(keypoints.clone(), rois.clone(), 5)).unwrap();
        let [blocking, awaited] = [blocking, awaited].map(|found| read_ints(&found.0.reshape([2])));
        assert_eq!(
            (&blocking[..], &awaited[..]),
            (&[11, 20][..], &[11, 20][..]),
            "{}",
            backend.name
        );

        let logits = Tensor::<4>::random([1, 2, 5, 5], Distribution::Default, device);
        let (rois, keypoints, rows) = ([rois], [keypoints], [ints([0], device)]);
        let blocking = keypointrcnn_loss(logits.clone(), &rois, &keypoints, &rows);
        let awaited = read_sync(keypointrcnn_loss_async(logits, &rois, &keypoints, &rows)).unwrap();
        assert_eq!(read_floats(&blocking), read_floats(&awaited), "{}", backend.name);
    }
}

#[test]
fn losses_of_anchors() {
    for backend in backends() {
        let device = &backend.device;
        let objectness = Tensor::<2>::random([1, 4], Distribution::Default, device);
        let deltas = Tensor::<3>::random([1, 4, 4], Distribution::Default, device);
        let labels = [ints([1, 0, -1, 1], device)];
        let targets = [Tensor::<2>::random([4, 4], Distribution::Default, device)];
        let sampler = BalancedPositiveNegativeSampler::new(256, 0.5);
        let permutation = &mut random_permutations(0);
        let blocking = rpn_loss(
            objectness.clone(),
            deltas.clone(),
            &labels,
            &targets,
            &sampler,
            permutation,
        );
        let permutation = &mut random_permutations(0);
        let awaited = rpn_loss_async(objectness, deltas, &labels, &targets, &sampler, permutation);
        let awaited = read_sync(awaited).unwrap();
        assert_eq!(read_floats(&blocking.0), read_floats(&awaited.0), "{}", backend.name);
        assert_eq!(read_floats(&blocking.1), read_floats(&awaited.1), "{}", backend.name);
    }
}
