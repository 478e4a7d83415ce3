//! What both gradients take of a call: a node of an autodiff graph keeps it, and a call by hand makes it.

use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Backend, TensorMetadata};

use super::{HostRegions, RegionKernels};
use crate::geometry::operator::RegionOperator;
use crate::geometry::options::Reduction;

/// A call whose gradients are wanted. The features are no part of it: an average's gradient does not need them.
#[derive(Debug, Clone)]
pub struct BackwardCall<B: Backend> {
    /// `[K, columns]`.
    pub boxes: FloatTensor<B>,
    /// `[K]`.
    pub batch_indices: IntTensor<B>,
    pub regions: Option<HostRegions>,
    pub operator: RegionOperator,
    /// The shape of the features.
    pub shape: [usize; 4],
}

impl<B: RegionKernels> BackwardCall<B> {
    /// The gradient of features from that of the output. `features` are there where the operator takes a maximum.
    pub fn features_gradient(&self, gradient: FloatTensor<B>, features: Option<FloatTensor<B>>) -> FloatTensor<B> {
        let call = self.clone();
        let operator = call.operator.of_gradient();
        if operator.reduction == Reduction::Average {
            return B::average_gradient(
                gradient,
                call.boxes,
                call.batch_indices,
                call.regions,
                operator,
                call.shape,
            );
        }
        let features = features.expect("the features of a maximum are there");
        B::maximum_gradient(
            gradient,
            features,
            call.boxes,
            call.batch_indices,
            call.regions,
            operator,
        )
    }

    /// The gradient `[K, columns]` of boxes from that of the output. `features` are there where what is read moves with
    /// boxes.
    pub fn boxes_gradient(&self, gradient: FloatTensor<B>, features: Option<FloatTensor<B>>) -> FloatTensor<B> {
        let call = self.clone();
        if !call.operator.moves_with_boxes() {
            return B::float_zeros(call.boxes.shape(), &call.boxes.device(), call.boxes.dtype().into());
        }
        let features = features.expect("the features of a tracked box are there");
        B::boxes_gradient(
            gradient,
            features,
            call.boxes,
            call.batch_indices,
            call.regions,
            call.operator,
        )
    }
}
