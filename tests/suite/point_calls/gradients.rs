//! Gradients of point operators, by autodiff.

use burn::tensor::{DType, Device, Tensor, TensorData};

use super::{Inputs, PointProblem};
use crate::problem::random_numbers;

/// The gradients of the sum of the output times weights.
pub struct Gradients {
    pub features: TensorData,
    pub boxes: TensorData,
    pub offsets: Option<TensorData>,
}

impl PointProblem {
    /// The gradient of the output.
    pub fn weights(&self, output: &TensorData) -> Vec<f64> {
        let numbers = random_numbers(self.seed.wrapping_add(77), output.num_elements());
        numbers.into_iter().map(f64::from).collect()
    }

    pub fn gradients(&self, device: &Device, dtype: DType) -> Gradients {
        let weights = self.weights(&self.run(device, dtype));
        let device = &device.clone().autodiff();
        let inputs = self.inputs(device, dtype);
        let inputs = Inputs {
            features: inputs.features.require_grad(),
            boxes: inputs.boxes.require_grad(),
            offsets: inputs.offsets.map(Tensor::require_grad),
        };
        let output = self.call(inputs.clone(), device);
        let weights = TensorData::new(weights, output.dims()).convert_dtype(dtype);
        let weights = Tensor::<4>::from_data(weights, (device, dtype));
        let gradients = (output * weights).sum().backward();
        let of = "a gradient of every input";
        Gradients {
            features: inputs.features.grad(&gradients).expect(of).into_data(),
            boxes: inputs.boxes.grad(&gradients).expect(of).into_data(),
            offsets: inputs
                .offsets
                .map(|offsets| offsets.grad(&gradients).expect(of).into_data()),
        }
    }
}

pub fn numbers(data: &TensorData) -> Vec<f64> {
    data.iter::<f64>().collect()
}

pub fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}
