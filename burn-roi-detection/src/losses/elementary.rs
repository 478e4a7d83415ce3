//! What the losses are made of.

use burn::nn::loss::{Reduction, SmoothL1LossConfig};
use burn::tensor::{Tensor, activation};

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
