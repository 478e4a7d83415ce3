//! A kernel as a value: what a client sends, and a server runs.

use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn::tensor::{DType, Shape};

use super::message::Operation;
use crate::backend::{RegionCall, RegionKernels};

/// A function of [`RegionKernels`] with the tensors that it takes besides a [`RegionCall`].
pub struct Kernel<B: RegionKernels> {
    pub operation: Operation,
    /// `None` for the gradient of an average.
    pub features: Option<FloatTensor<B>>,
    /// What finer levels have pooled, or the gradient of the output. `None` for [`Operation::Pool`].
    pub like_output: Option<FloatTensor<B>>,
}

impl<B: RegionKernels> Kernel<B> {
    /// The shape and the dtype of the output.
    pub fn output(&self, call: &RegionCall<B>) -> (Shape, DType) {
        let shape = match self.operation {
            Operation::Pool | Operation::PoolLevel => call.output_shape(),
            Operation::AverageGradient | Operation::MaximumGradient => Shape::new(call.features_shape),
            Operation::BoxesGradient => return (call.boxes.shape(), call.boxes.dtype()),
        };
        (shape, self.first().dtype())
    }

    /// The tensor before the boxes in a message.
    pub fn first(&self) -> &FloatTensor<B> {
        let tensor = self.features.as_ref().or(self.like_output.as_ref());
        tensor.expect("every kernel takes a tensor")
    }

    pub fn run(self, call: RegionCall<B>) -> FloatTensor<B> {
        let features = || self.features.expect("the kernel has features");
        let like_output = || self.like_output.expect("the kernel has a tensor like the output");
        match self.operation {
            Operation::Pool => B::pool(features(), call),
            Operation::PoolLevel => B::pool_level(like_output(), features(), call),
            Operation::AverageGradient => B::average_gradient(like_output(), call),
            Operation::MaximumGradient => B::maximum_gradient(like_output(), features(), call),
            Operation::BoxesGradient => B::boxes_gradient(like_output(), features(), call),
        }
    }
}
