//! What the losses are made of.

use burn::nn::loss::{Reduction, SmoothL1LossConfig};
use burn::tensor::{Bool, Tensor, activation};

/// Where the smooth L1 loss of box deltas turns from a square to a line, in torchvision's detectors.
const BETA: f32 = 1.0 / 9.0;

/// The sum of the smooth L1 loss of box deltas.
pub fn box_delta_loss(deltas: Tensor<2>, targets: Tensor<2>) -> Tensor<1> {
    let loss = SmoothL1LossConfig::new().with_beta(BETA).init();
    loss.forward_with_reduction(deltas, targets, Reduction::Sum)
}

/// The mean of the binary cross entropy between probabilities, given as logits, and targets from 0 to 1.
///
/// Burn's own takes targets that are integers.
pub fn binary_cross_entropy_with_logits<const D: usize>(logits: Tensor<D>, targets: Tensor<D>) -> Tensor<1> {
    ((targets.neg() + 1.0) * logits.clone() - activation::log_sigmoid(logits)).mean()
}

/// 0, which has a gradient of 0 for `tensor`.
pub fn zero<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    if tensor.shape().num_elements() == 0 {
        return tensor.sum();
    }
    // A product with 0 would be NaN where an element is infinite or NaN.
    let everywhere = Tensor::<D, Bool>::full(tensor.dims(), true, &tensor.device());
    tensor.mask_fill(everywhere, 0.0).sum()
}
