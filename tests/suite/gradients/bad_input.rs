//! What a gradient by hand refuses.

use burn::tensor::{DType, Device, Tensor};
use burn_roi::*;

use super::backward;
use crate::backends::backends;
use crate::problem::Operator;

fn refusal(weights: Tensor<4>, features: Tensor<4>, device: &Device) -> String {
    let rois = Rois::from_images(vec![Tensor::<2>::from_floats([[0.0, 0.0, 4.0, 4.0]], device)]);
    let operator = Operator::RoiAlign(RoiAlignConfig::new([2, 2]));
    let outcome = backward(&operator, weights, features, &rois);
    outcome.expect_err("it should be refused").to_string()
}

#[test]
fn a_gradient_that_is_not_the_outputs() {
    for backend in backends() {
        let device = &backend.device;
        let features = Tensor::<4>::zeros([1, 3, 8, 8], device);
        let found = refusal(Tensor::zeros([1, 3, 2, 3], device), features.clone(), device);
        assert_eq!(
            found,
            "`output_gradient` has shape [1, 3, 2, 3], but must have shape [K, channels, P, Q], that of the operator's \
             output"
        );
        if backend.supports(DType::F16) {
            let half = Tensor::<4>::zeros([1, 3, 2, 2], (device, DType::F16));
            let found = refusal(half, features, device);
            assert_eq!(
                found,
                "`output_gradient` is of dtype F16, but must be of F32, as `features` is"
            );
        }
    }
}

#[test]
fn tensors_on_an_autodiff_device() {
    for backend in backends() {
        let (inner, device) = (&backend.device, &backend.device.clone().autodiff());
        let gradient = Tensor::<4>::zeros([1, 3, 2, 2], device);
        let found = refusal(gradient, Tensor::zeros([1, 3, 8, 8], inner), inner);
        assert_eq!(
            found,
            "`output_gradient` is on an autodiff device, but must be on the inner device: there are no \
             second-order gradients"
        );
        let found = refusal(
            Tensor::zeros([1, 3, 2, 2], inner),
            Tensor::zeros([1, 3, 8, 8], device),
            inner,
        );
        assert!(found.starts_with("`features` is on an autodiff device"), "{found}");
    }
}

/// No region, no image or no channel: gradients of zeros, or of no number.
#[test]
fn a_call_that_reads_nothing_has_gradients_of_zeros() {
    for backend in backends() {
        let device = &backend.device;
        let operator = Operator::RoiAlign(RoiAlignConfig::new([2, 2]));
        let rois = Rois::from_images(vec![Tensor::<2>::zeros([0, 4], device)]);
        let features = Tensor::<4>::ones([1, 3, 8, 8], device);
        let found = backward(&operator, Tensor::zeros([0, 3, 2, 2], device), features, &rois);
        let found = Tensor::<4>::from_dispatch(found.expect("it is right").features()).into_data();
        assert_eq!(found.shape().to_vec(), [1, 3, 8, 8]);
        assert!(found.iter::<f32>().all(|number| number == 0.0), "{}", backend.name);
    }
}
