//! A call of a client, checked.

use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::Shape;

use crate::backend::remote::message::Operation;
use crate::backend::{HostRegions, RegionCall, RoiBackend};
use crate::geometry::operator::RegionOperator;

#[derive(Clone)]
pub struct Call<B: RoiBackend> {
    pub operation: Operation,
    pub operator: RegionOperator,
    /// The features; for the gradient of an average, that of the output.
    pub first: FloatTensor<B>,
    pub boxes: FloatTensor<B>,
    pub batch_indices: IntTensor<B>,
    /// What finer levels have pooled, or the gradient of the output, where the operation takes one.
    pub last: Option<FloatTensor<B>>,
    /// The shape of the output.
    pub output: Shape,
}

impl<B: RoiBackend> Call<B> {
    pub fn images(&self) -> usize {
        match self.operation {
            Operation::AverageGradient => self.output[0],
            _ => self.first.shape()[0],
        }
    }

    /// The tensor after the batch indices, of an operation that has one.
    pub fn last(&self) -> FloatTensor<B> {
        self.last.clone().expect("the number of tensors was checked")
    }

    /// Computes it. `regions` are those of the boxes, read and right, where the backend wants them.
    pub fn compute(self, regions: Option<HostRegions>) -> FloatTensor<B> {
        let features_shape = match self.operation {
            Operation::AverageGradient => &self.output,
            _ => &self.first.shape(),
        };
        let call = RegionCall {
            features_shape: features_shape.dims(),
            boxes: self.boxes,
            batch_indices: self.batch_indices,
            regions,
            operator: self.operator,
        };
        let last = || self.last.expect("the number of tensors was checked");
        match self.operation {
            Operation::Pool => B::pool(self.first, call),
            Operation::PoolLevel => B::pool_level(last(), self.first, call),
            Operation::AverageGradient => B::average_gradient(self.first, call),
            Operation::MaximumGradient => B::maximum_gradient(last(), self.first, call),
            Operation::BoxesGradient => B::boxes_gradient(last(), self.first, call),
        }
    }
}
