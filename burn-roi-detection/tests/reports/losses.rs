//! Losses of nothing, and of class-agnostic regression.

use burn::tensor::{DType, Device, Gradients, Int, Tensor};
use burn_roi::{RoiAlignConfig, Rois, roi_align};
use burn_roi_detection::*;

use crate::backends::{Backend, backends};
use crate::bad_input::floats;

fn ints(values: &[i64], device: &Device) -> Tensor<1, Int> {
    match values.is_empty() {
        true => Tensor::zeros([0], device),
        false => Tensor::from_ints(values, device),
    }
}

fn values<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

#[track_caller]
fn assert_no_gradient<const D: usize>(tensor: &Tensor<D>, gradients: &Gradients) {
    let gradient = tensor.grad(gradients).expect("there should be a gradient");
    assert_eq!((gradient.dims(), gradient.dtype()), (tensor.dims(), tensor.dtype()));
    assert!(values(&gradient).iter().all(|&value| value == 0.0));
}

#[test]
fn a_box_head_without_regions_has_losses_of_0() {
    for Backend { device, name } in backends() {
        let device = device.autodiff();
        for (classes, columns, images) in [(3, 12, 2), (3, 4, 2), (1, 4, 1), (0, 0, 0), (2, 8, 0)] {
            let class_logits = floats([0, classes], &device).require_grad();
            let box_regression = floats([0, columns], &device).require_grad();
            let labels = vec![ints(&[], &device); images];
            let targets = vec![floats([0, 4], &device); images];
            let losses = fastrcnn_loss(class_logits.clone(), box_regression.clone(), &labels, &targets);
            assert_eq!((values(&losses.0), values(&losses.1)), (vec![0.0], vec![0.0]), "{name}");
            let gradients = (losses.0 + losses.1).backward();
            assert_no_gradient(&class_logits, &gradients);
            assert_no_gradient(&box_regression, &gradients);
        }
    }
}

#[test]
fn a_region_proposal_network_without_drawn_anchors_has_losses_of_0() {
    for Backend { device, name } in backends() {
        let device = device.autodiff();
        for [images, anchors] in [[1, 2], [2, 2], [2, 0], [0, 2]] {
            // What is NaN reaches neither the losses nor a gradient.
            let objectness = Tensor::<2>::full([images, anchors], f32::NAN, &device).require_grad();
            let deltas = Tensor::<3>::full([images, anchors, 4], f32::NAN, &device).require_grad();
            let labels = vec![ints(&vec![-1; anchors], &device); images];
            let targets = vec![floats([anchors, 4], &device); images];
            let sampler = BalancedPositiveNegativeSampler::new(256, 0.5);
            let permutation = &mut random_permutations(0);
            let (logits, boxes) = (objectness.clone(), deltas.clone());
            let losses = rpn_loss(logits, boxes, &labels, &targets, &sampler, permutation);
            assert_eq!((values(&losses.0), values(&losses.1)), (vec![0.0], vec![0.0]), "{name}");
            let gradients = (losses.0 + losses.1).backward();
            assert_no_gradient(&objectness, &gradients);
            assert_no_gradient(&deltas, &gradients);
        }
    }
}

#[test]
fn a_sampler_that_draws_only_positives_of_which_there_are_none() {
    for Backend { device, name } in backends() {
        // A batch of 1 with a fraction of 0 has room for no positive anchor, and there is no negative one.
        let sampler = BalancedPositiveNegativeSampler::new(1, 0.0);
        let labels = [ints(&[1, 1], &device)];
        let targets = [floats([2, 4], &device)];
        let (objectness, deltas) = (floats([1, 2], &device), floats([1, 2, 4], &device));
        let permutation = &mut random_permutations(0);
        let losses = try_rpn_loss(objectness, deltas, &labels, &targets, &sampler, permutation).unwrap();
        assert_eq!((values(&losses.0), values(&losses.1)), (vec![0.0], vec![0.0]), "{name}");
    }
}

#[test]
fn a_mask_head_without_proposals_has_a_loss_of_0() {
    for Backend { device, name } in backends() {
        let device = device.autodiff();
        for images in [2, 1, 0] {
            let mask_logits = floats([0, 3, 4, 4], &device).require_grad();
            let loss = maskrcnn_loss(
                mask_logits.clone(),
                &vec![floats([0, 4], &device); images],
                &vec![floats([1, 8, 8], &device); images],
                &vec![ints(&[2], &device); images],
                &vec![ints(&[], &device); images],
                &MaskTargets::new(),
            );
            assert_eq!(values(&loss), [0.0], "{name}");
            assert_no_gradient(&mask_logits, &loss.backward());
        }
    }
}

#[test]
fn losses_of_nothing_have_the_dtype_of_what_the_heads_compute() {
    for Backend { device, .. } in backends().iter().filter(|backend| backend.supports(DType::F16)) {
        let half = (device, DType::F16);
        let losses = fastrcnn_loss(Tensor::zeros([0, 2], half), Tensor::zeros([0, 8], half), &[], &[]);
        assert_eq!((losses.0.dtype(), losses.1.dtype()), (DType::F16, DType::F16));
    }
}

/// Heads for regions of 4 channels and 7 x 7 pixels.
#[test]
fn heads_without_regions_have_gradients_of_0() {
    for Backend { device, name } in backends() {
        let device = device.autodiff();
        let features = Tensor::<4>::ones([1, 4, 20, 20], &device).require_grad();
        let rois = Rois::from_images(vec![floats([0, 4], &device)]);
        let pooled = || roi_align(features.clone(), &rois, RoiAlignConfig::new([7, 7]));
        let no_labels = || [ints(&[], &device)];
        let box_losses = |head: Tensor<2>, predictor: &FastRcnnPredictor| {
            let (logits, deltas) = predictor.forward(head);
            let losses = fastrcnn_loss(logits, deltas, &no_labels(), &[floats([0, 4], &device)]);
            losses.0 + losses.1
        };

        let head = FastRcnnConvFcHeadConfig::new(4, [7, 7], vec![], vec![6, 6]).init(&device);
        let predictor = FastRcnnPredictorConfig::new(6, 3).init(&device);
        let gradients = box_losses(head.forward(pooled()), &predictor).backward();
        for layer in [&head.fcs[0], &head.fcs[1], &predictor.cls_score, &predictor.bbox_pred] {
            assert_no_gradient(&layer.weight.val(), &gradients);
        }
        assert_no_gradient(&features, &gradients);

        let config = FastRcnnConvFcHeadConfig::new(4, [7, 7], vec![5], vec![6]).with_norm(Some(NormKind::Batch));
        let head = config.init(&device);
        let gradients = box_losses(head.forward(pooled()), &predictor).backward();
        assert_no_gradient(&head.convs[0].conv.weight.val(), &gradients);
        assert_no_gradient(&head.fcs[0].weight.val(), &gradients);
        assert_no_gradient(&features, &gradients);

        let heads = MaskRcnnHeadsConfig::new(4, vec![5]).init(&device);
        let predictor = MaskRcnnPredictorConfig::new(5, 6, 3).init(&device);
        let mask_logits = predictor.forward(heads.forward(pooled()));
        assert_eq!(mask_logits.dims(), [0, 3, 14, 14], "{name}");
        let masks = [floats([1, 8, 8], &device)];
        let loss = maskrcnn_loss(
            mask_logits,
            &[floats([0, 4], &device)],
            &masks,
            &[ints(&[1], &device)],
            &no_labels(),
            &MaskTargets::new(),
        );
        let gradients = loss.backward();
        assert_no_gradient(&heads.layers[0].conv.weight.val(), &gradients);
        assert_no_gradient(&predictor.conv5_mask.weight.val(), &gradients);
        assert_no_gradient(&predictor.mask_fcn_logits.weight.val(), &gradients);
        assert_no_gradient(&features, &gradients);
    }
}

/// As in the module's example: the backbone is not trained.
#[test]
fn a_head_on_features_without_autodiff_has_gradients_of_0() {
    for Backend { device, name } in backends() {
        let predictor = FastRcnnPredictorConfig::new(6, 3).init(&device.clone().autodiff());
        let (logits, deltas) = predictor.forward(floats([0, 6], &device));
        let losses = fastrcnn_loss(logits, deltas, &[ints(&[], &device)], &[floats([0, 4], &device)]);
        let gradients = (losses.0 + losses.1).backward();
        assert_no_gradient(&predictor.cls_score.weight.val(), &gradients);
        // Maps without pixels are empty whatever the number of regions.
        let heads = MaskRcnnHeadsConfig::new(4, vec![5]).init(&device.clone().autodiff());
        assert_eq!(
            heads.forward(floats([0, 4, 0, 0], &device)).dims(),
            [0, 5, 0, 0],
            "{name}"
        );
    }
}

#[test]
fn the_class_agnostic_loss_is_that_of_repeated_deltas() {
    for Backend { device, name } in backends() {
        let device = device.autodiff();
        let rows = [[0.5, -0.3, 0.2, 0.1], [0.0, 1.0, 0.0, 2.0], [-1.0, 0.7, 0.3, -0.4]];
        let logits = || Tensor::<2>::from_floats([[0.1, 2.0, 1.5], [0.0, 0.3, 0.2], [1.0, -0.5, 2.5]], &device);
        let labels = [ints(&[2, 0], &device), ints(&[1], &device)];
        let targets = [
            Tensor::<2>::from_floats([[0.4, 0.9, -0.2, 0.1], [7.0; 4]], &device),
            Tensor::<2>::from_floats([[0.0, 0.0, 0.3, 5.0]], &device),
        ];
        let agnostic = Tensor::<2>::from_floats(rows, &device).require_grad();
        let repeated = Tensor::<2>::from_floats(rows, &device)
            .repeat_dim(1, 3)
            .detach()
            .require_grad();
        let found = fastrcnn_loss(logits(), agnostic.clone(), &labels, &targets);
        let expected = fastrcnn_loss(logits(), repeated.clone(), &labels, &targets);
        assert_eq!(values(&found.0), values(&expected.0), "{name}");
        assert_eq!(values(&found.1), values(&expected.1), "{name}");

        let found = agnostic
            .grad(&found.1.backward())
            .expect("the deltas are differentiated");
        let expected = repeated
            .grad(&expected.1.backward())
            .expect("the deltas are differentiated");
        // The columns of class 2 for the first sample, none for background, and those of class 1 for the last.
        let row = |row: usize, class: usize| values(&expected.clone().slice([row..row + 1, 4 * class..4 * class + 4]));
        assert_eq!(values(&found), [row(0, 2), vec![0.0; 4], row(2, 1)].concat(), "{name}");
        assert!(row(0, 2).iter().any(|&value| value != 0.0));
    }
}

#[test]
fn background_alone_has_no_box_loss() {
    for Backend { device, name } in backends() {
        let device = device.autodiff();
        let box_regression = Tensor::<2>::ones([2, 4], &device).require_grad();
        let labels = [ints(&[0, 0], &device)];
        let (_, loss) = fastrcnn_loss(
            floats([2, 1], &device),
            box_regression.clone(),
            &labels,
            &[floats([2, 4], &device)],
        );
        assert_eq!(values(&loss), [0.0], "{name}");
        assert_no_gradient(&box_regression, &loss.backward());
    }
}
