//! Gradients: against differences of the forward pass, against each other, and their bits.

mod against_differences;
mod agreement;
mod autodiff;
mod bad_input;
mod frameworks;
mod large_regions;
mod repeatable;
mod small_elements;

use burn::backend::Dispatch;
use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_roi::primitive::Backward;
use burn_roi::*;

use crate::problem::{Operator, Problem, random_numbers};

/// The gradients of a problem's features and boxes.
pub struct Gradients {
    pub features: TensorData,
    pub boxes: TensorData,
}

impl Problem {
    /// The gradients of the sum of the output times `weights`, on an autodiff device.
    pub fn gradients(&self, device: &Device, dtype: DType, weights: &[f64]) -> Gradients {
        self.gradients_of(device, DType::F32, dtype, weights)
    }

    /// The same of features and boxes that are rounded first.
    pub fn gradients_of(&self, device: &Device, rounding: DType, dtype: DType, weights: &[f64]) -> Gradients {
        let device = device.clone().autodiff();
        let features = self.features(&device, rounding, dtype).require_grad();
        let rois = self.rois(&device, rounding, dtype);
        let boxes = rois.boxes().require_grad();
        let rois = Rois::new(boxes.clone(), rois.batch_indices());
        let output = self
            .operator
            .call(features.clone(), &rois)
            .expect("the problem is right");
        let weights = TensorData::new(weights.to_vec(), output.dims()).convert_dtype(dtype);
        let weights = Tensor::<4>::from_data(weights, (&device, dtype));
        let gradients = (output * weights).sum().backward();
        Gradients {
            features: features.grad(&gradients).expect("a gradient of features").into_data(),
            boxes: boxes.grad(&gradients).expect("a gradient of boxes").into_data(),
        }
    }

    /// The same by hand.
    pub fn gradients_by_hand(&self, device: &Device, dtype: DType, weights: &[f64]) -> Gradients {
        let features = self.features(device, DType::F32, dtype);
        let rois = self.rois(device, DType::F32, dtype);
        let weights = TensorData::new(weights.to_vec(), self.output_shape()).convert_dtype(dtype);
        let weights = Tensor::<4>::from_data(weights, (device, dtype));
        let backward = backward(&self.operator, weights, features, &rois).expect("the problem is right");
        Gradients {
            features: Tensor::<4>::from_dispatch(backward.features()).into_data(),
            boxes: Tensor::<2>::from_dispatch(backward.boxes()).into_data(),
        }
    }

    pub fn output_shape(&self) -> [usize; 4] {
        let [rows, columns] = self.operator.output_size();
        let channels = self.shape[1] / self.operator.input_channels();
        [self.boxes.len(), channels, rows, columns]
    }

    /// Random numbers for the gradient of the output.
    pub fn weights(&self) -> Vec<f64> {
        let count = self.output_shape().iter().product();
        let numbers = random_numbers(self.seed.wrapping_add(77), count);
        numbers.into_iter().map(f64::from).collect()
    }
}

/// The gradients of an operator by hand.
pub fn backward(
    operator: &Operator,
    weights: Tensor<4>,
    features: Tensor<4>,
    rois: &Rois,
) -> Result<Backward<Dispatch>, RoiError> {
    operator.backward(weights.into_dispatch(), features.into_dispatch(), rois.into())
}
