//! [`Backward`]: the gradients of a call, by hand.

use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;

use crate::backend::{BackwardCall, RoiBackend};

/// The gradients of a call whose arguments were checked: each is computed when it is asked for. Functions such as
/// [`primitive::roi_align_backward`](crate::primitive::roi_align_backward) make it.
#[derive(Debug)]
pub struct Backward<B: RoiBackend> {
    pub(super) gradient: FloatTensor<B>,
    pub(super) features: FloatTensor<B>,
    pub(super) call: BackwardCall<B>,
    /// Whether there is no image to read, or no output.
    pub(super) reads_nothing: bool,
}

impl<B: RoiBackend> Backward<B> {
    /// The gradient of the features, `[N, C, H, W]`.
    pub fn features(&self) -> FloatTensor<B> {
        if self.reads_nothing {
            return zeros_like::<B>(&self.features);
        }
        self.call
            .features_gradient(self.gradient.clone(), Some(self.features.clone()))
    }

    /// The gradient of the boxes, `[K, 4]` in the order of their columns. It is 0 where an operator reads nearest or
    /// whole pixels, which do not move with a box.
    pub fn boxes(&self) -> FloatTensor<B> {
        if self.reads_nothing {
            return zeros_like::<B>(&self.call.boxes);
        }
        self.call
            .boxes_gradient(self.gradient.clone(), Some(self.features.clone()))
    }
}

fn zeros_like<B: RoiBackend>(tensor: &FloatTensor<B>) -> FloatTensor<B> {
    B::float_zeros(tensor.shape(), &tensor.device(), tensor.dtype().into())
}
