//! Aligned mask targets, and pasting on an autodiff device.

use burn::tensor::{Device, Distribution, Int, Tensor, read_sync};
use burn_roi::RoiError;
use burn_roi_detection::DetectionError;
use burn_roi_detection::*;

use crate::backends::backends;
use crate::bad_input::assert_error;

fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// An object in the left half of an image of 8 x 8, a proposal, and the index of the object.
type Targets = ([Tensor<3>; 1], [Tensor<2>; 1], [Tensor<1, Int>; 1]);

fn left_half(proposal: [f32; 4], device: &Device) -> Targets {
    let object = Tensor::<3>::ones([1, 8, 4], device);
    let gt_masks = [Tensor::cat(vec![object.clone(), object.zeros_like()], 2)];
    let proposals = [Tensor::<2>::from_floats([proposal], device)];
    (gt_masks, proposals, [Tensor::<1, Int>::from_ints([0], device)])
}

/// Without `aligned` a sample of output column 3 is on the border of pixels 3 and 4, halfway between 1 and 0.
#[test]
fn mask_targets_can_be_aligned() {
    for backend in backends() {
        let (masks, proposals, rows) = left_half([0.0, 0.0, 8.0, 8.0], &backend.device);
        let legacy = [1.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0].repeat(8);
        let aligned = [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0].repeat(8);
        let targets = MaskTargets::new();
        let projected = project_masks_on_boxes(&masks, &proposals, &rows, 8, &targets);
        assert_eq!(floats(projected), legacy);
        let targets = MaskTargets {
            aligned: true,
            ..targets
        };
        assert_eq!(
            floats(project_masks_on_boxes(&masks, &proposals, &rows, 8, &targets)),
            aligned
        );
        let awaited = read_sync(project_masks_on_boxes_async(&masks, &proposals, &rows, 8, &targets)).unwrap();
        assert_eq!(floats(awaited), aligned);
        assert_error(
            try_project_masks_on_boxes(&masks, &proposals, &rows, 0, &targets),
            "`discretization_size` is 0, but must be 1 to 32767",
        );
    }
}

/// Two pixels of 4 x 8 each: the border of the object is in the middle of the first, whose average is 0.5.
#[test]
fn mask_targets_of_a_half_are_set() {
    for backend in backends() {
        let targets = MaskTargets {
            aligned: true,
            ..MaskTargets::new()
        };
        for (left, average, is_set) in [(2.0, 0.5, 1.0), (3.0, 0.25, 0.0)] {
            let (masks, proposals, rows) = left_half([left, 0.0, left + 8.0, 8.0], &backend.device);
            assert_eq!(
                floats(project_masks_on_boxes(&masks, &proposals, &rows, 2, &targets))[0],
                average
            );
            let binary = MaskTargets {
                binary: true,
                ..targets.clone()
            };
            let binary = project_masks_on_boxes(&masks, &proposals, &rows, 2, &binary);
            assert_eq!(binary.dtype(), proposals[0].dtype());
            assert_eq!(floats(binary), [is_set, 0.0, is_set, 0.0]);
        }
    }
}

/// The logits are 0 except for output column 3, whose targets are 0.5 or 1. The loss of a logit of 0 is ln 2, that of 8
/// is `ln(1 + exp(-8)) + 8 * (1 - target)`.
#[test]
fn a_mask_loss_can_have_aligned_targets() {
    for backend in backends() {
        let device = &backend.device;
        let (masks, proposals, rows) = left_half([0.0, 0.0, 8.0, 8.0], device);
        let labels = [Tensor::<1, Int>::from_ints([1], device)];
        let column = Tensor::<1>::from_floats([0.0, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0, 0.0], device);
        let logits = || column.clone().reshape([1, 1, 1, 8]).expand([1, 2, 8, 8]);
        let expected = |target: f64| (7.0 * 2.0f64.ln() + (-8.0f64).exp().ln_1p() + 8.0 * (1.0 - target)) / 8.0;
        let near = |loss: Tensor<1>, expected: f64| {
            let loss = floats(loss)[0];
            assert!(
                (loss - expected).abs() < 1e-5,
                "{loss} and {expected} on {}",
                backend.name
            );
        };
        near(
            maskrcnn_loss(logits(), &proposals, &masks, &labels, &rows, &MaskTargets::new()),
            expected(0.5),
        );
        let targets = MaskTargets {
            aligned: true,
            ..MaskTargets::new()
        };
        near(
            maskrcnn_loss(logits(), &proposals, &masks, &labels, &rows, &targets),
            expected(1.0),
        );
        let awaited = read_sync(maskrcnn_loss_async(
            logits(),
            &proposals,
            &masks,
            &labels,
            &rows,
            &targets,
        ));
        near(awaited.unwrap(), expected(1.0));
        assert_error(
            try_maskrcnn_loss(logits(), &proposals, &masks, &[], &rows, &targets),
            "`gt_labels` has length 0, but must have length 1: one for each image of `proposals`",
        );
    }
}

/// On an autodiff device the images are pasted one by one. The gradient of a mask's pixel is the sum of its weights.
#[test]
fn pasting_has_the_same_bits_and_a_gradient_on_an_autodiff_device() {
    for backend in backends() {
        let device = &backend.device;
        device.seed(5);
        let masks = Tensor::<4>::random([2, 1, 5, 5], Distribution::Default, device);
        let boxes = Tensor::<2>::from_floats([[2.0, 3.0, 9.0, 13.0], [-3.0, 5.0, 4.0, 40.0]], device);
        let pasted = paste_masks_in_image(masks.clone(), boxes.clone(), [20, 12], 1);
        let autodiff = device.clone().autodiff();
        let tracked = Tensor::<4>::from_data(masks.to_data(), &autodiff).require_grad();
        let on_autodiff = Tensor::<2>::from_data(boxes.to_data(), &autodiff);
        let of_tracked = paste_masks_in_image(tracked.clone(), on_autodiff, [20, 12], 1);
        assert_eq!(of_tracked.to_data(), pasted.to_data(), "{}", backend.name);

        let gradients = of_tracked.sum().backward();
        let gradient = floats(tracked.grad(&gradients).expect("masks are differentiated"));
        // Pasting is linear: masks times their gradient is the sum of what they give.
        let expected: f64 = floats(pasted).iter().sum();
        let sum: f64 = floats(masks)
            .iter()
            .zip(&gradient)
            .map(|(pixel, slope)| pixel * slope)
            .sum();
        assert!(
            (sum - expected).abs() < 1e-3,
            "{sum} and {expected} on {}",
            backend.name
        );
    }
}

#[test]
fn an_image_that_no_memory_holds_is_an_error() {
    for backend in backends() {
        let masks = Tensor::<4>::ones([1, 1, 4, 4], &backend.device);
        let boxes = Tensor::<2>::from_floats([[1.0, 1.0, 3.0, 3.0]], &backend.device);
        let error = try_paste_masks_in_image(masks.clone(), boxes.clone(), [1 << 32, 1 << 32], 1);
        assert_eq!(
            error.expect_err("no memory holds it").to_string(),
            "the pasted masks would have shape [1, 1, 4294967296, 4294967296] of F32, but must fit into the memory of \
             its device"
        );
        let (no_mask, no_box) = (masks.clone().slice(0..0), boxes.clone().slice(0..0));
        let error = try_paste_masks_in_image(no_mask, no_box, [1 << 32, 1 << 32], 1);
        assert!(
            matches!(error, Err(DetectionError::Roi(RoiError::Memory { .. }))),
            "{}",
            backend.name
        );
        // What memory a server has, a client does not know.
        if backend.name == "remote" {
            continue;
        }
        let error = try_paste_masks_in_image(masks, boxes, [1 << 21, 1 << 21], 1);
        assert!(
            matches!(error, Err(DetectionError::Roi(RoiError::Memory { .. }))),
            "{}",
            backend.name
        );
    }
}
