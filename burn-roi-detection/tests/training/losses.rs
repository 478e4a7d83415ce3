//! Losses and their gradients, compared with torchvision's.

use burn::tensor::Gradients;
use burn::tensor::Tensor;
use burn_roi_detection::*;

use crate::backends::Backend;
use crate::cases::{Case, check_all};

/// An argument of a case that is differentiated.
struct Input<'a, const D: usize> {
    name: &'a str,
    tensor: Tensor<D>,
}

impl<'a, const D: usize> Input<'a, D> {
    fn new(name: &'a str, case: &Case, backend: &Backend) -> Self {
        let tensor = case.floats(name, &backend.device).autodiff().require_grad();
        Self { name, tensor }
    }

    fn check_gradient(&self, case: &Case, gradients: &Gradients, backend: &Backend) {
        let gradient = self.tensor.grad(gradients).expect("there should be a gradient");
        case.assert_equal(&format!("gradient_{}", self.name), gradient, 1e-5, backend);
    }
}

#[test]
fn losses_of_a_box_head_are_those_of_torchvision() {
    check_all("fastrcnn_loss", |case, backend| {
        let class_logits = Input::new("class_logits", case, backend);
        let box_regression = Input::new("box_regression", case, backend);
        let (classification_loss, box_loss) = fastrcnn_loss(
            class_logits.tensor.clone(),
            box_regression.tensor.clone(),
            &case.int_list("labels", &backend.device),
            &case.list("regression_targets", &backend.device),
        );
        let gradients = (classification_loss.clone() + box_loss.clone()).backward();
        class_logits.check_gradient(case, &gradients, backend);
        box_regression.check_gradient(case, &gradients, backend);
        case.assert_floats(0, classification_loss.inner(), 1e-5, backend);
        case.assert_floats(1, box_loss.inner(), 1e-5, backend);
    });
}

#[test]
fn losses_of_region_proposals_are_those_of_torchvision() {
    check_all("rpn_loss", |case, backend| {
        let objectness = Input::new("objectness", case, backend);
        let deltas = Input::new("pred_bbox_deltas", case, backend);
        let (size, fraction) = (case.option("batch_size_per_image"), case.option("positive_fraction"));
        let (objectness_loss, box_loss) = rpn_loss(
            objectness.tensor.clone(),
            deltas.tensor.clone(),
            &case.int_list("labels", &backend.device),
            &case.list("regression_targets", &backend.device),
            &BalancedPositiveNegativeSampler::new(size, fraction),
            &mut case.permutations(),
        );
        let gradients = (objectness_loss.clone() + box_loss.clone()).backward();
        objectness.check_gradient(case, &gradients, backend);
        deltas.check_gradient(case, &gradients, backend);
        case.assert_floats(0, objectness_loss.inner(), 1e-5, backend);
        case.assert_floats(1, box_loss.inner(), 1e-5, backend);
    });
}

#[test]
fn losses_of_a_mask_head_are_those_of_torchvision() {
    check_all("maskrcnn_loss", |case, backend| {
        let mask_logits = Input::new("mask_logits", case, backend);
        let proposals = case.list("proposals", &backend.device);
        let gt_masks = case.list("gt_masks", &backend.device);
        let gt_labels = case.int_list("gt_labels", &backend.device);
        let matched_idxs = case.int_list("matched_idxs", &backend.device);
        let [count, _, size, _] = mask_logits.tensor.dims();
        let projected = project_masks_on_boxes(&gt_masks, &proposals, &matched_idxs, size, &MaskTargets::new());
        case.assert_floats(1, projected, 1e-5, backend);

        let logits = mask_logits.tensor.clone();
        let loss = maskrcnn_loss(
            logits,
            &proposals,
            &gt_masks,
            &gt_labels,
            &matched_idxs,
            &MaskTargets::new(),
        );
        if count > 0 {
            mask_logits.check_gradient(case, &loss.backward(), backend);
        }
        case.assert_floats(0, loss.inner(), 1e-5, backend);
    });
}

#[test]
fn pixels_of_keypoints_are_those_of_torchvision() {
    check_all("keypoints_to_heatmap", |case, backend| {
        let (keypoints, rois) = (
            case.floats::<3>("keypoints", &backend.device),
            case.floats("rois", &backend.device),
        );
        let count = keypoints.dims()[0] * keypoints.dims()[1];
        let (pixels, valid) = keypoints_to_heatmap(keypoints, rois, case.option("heatmap_size"));
        case.assert_ints(0, pixels.reshape([count]), backend);
        case.assert_ints(1, valid.reshape([count]).int(), backend);
    });
}

#[test]
fn losses_of_a_keypoint_head_are_those_of_torchvision() {
    check_all("keypointrcnn_loss", |case, backend| {
        let keypoint_logits = Input::new("keypoint_logits", case, backend);
        let loss = keypointrcnn_loss(
            keypoint_logits.tensor.clone(),
            &case.list("proposals", &backend.device),
            &case.list("gt_keypoints", &backend.device),
            &case.int_list("matched_idxs", &backend.device),
        );
        keypoint_logits.check_gradient(case, &loss.backward(), backend);
        case.assert_floats(0, loss.inner(), 1e-5, backend);
    });
}

#[test]
fn losses_without_autodiff_have_the_same_values() {
    check_all("fastrcnn_loss", |case, backend| {
        let (classification_loss, box_loss) = fastrcnn_loss(
            case.floats("class_logits", &backend.device),
            case.floats("box_regression", &backend.device),
            &case.int_list("labels", &backend.device),
            &case.list("regression_targets", &backend.device),
        );
        case.assert_floats(0, classification_loss, 1e-5, backend);
        case.assert_floats(1, box_loss, 1e-5, backend);
    });
}

#[test]
fn targets_may_be_on_the_autodiff_device() {
    check_all("maskrcnn_loss", |case, backend| {
        let device = &backend.device.clone().autodiff();
        let loss = maskrcnn_loss(
            case.floats("mask_logits", device),
            &case.list("proposals", device),
            &case.list("gt_masks", device),
            &case.int_list("gt_labels", device),
            &case.int_list("matched_idxs", device),
            &MaskTargets::new(),
        );
        case.assert_floats(0, loss.inner(), 1e-5, backend);
    });
    check_all("samples", |case, backend| {
        let device = &backend.device.clone().autodiff();
        let samples = select_training_samples(
            &case.list("proposals", device),
            &case.list("gt_boxes", device),
            &case.int_list("gt_labels", device),
            &TrainingSamplesConfig::new(),
            &mut random_permutations(0),
        );
        assert!(!samples.regression_targets[0].is_autodiff());
        assert!(!samples.labels[0].is_autodiff());
    });
}
