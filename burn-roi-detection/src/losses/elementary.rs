//! What the losses are made of.

use burn::nn::loss::{Reduction, SmoothL1LossConfig};
use burn::tensor::{Tensor, activation};

use crate::host;
use crate::zeros::zero;

/// Where the smooth L1 loss of box deltas turns from a square to a line, in torchvision's detectors.
pub const TORCHVISION_BETA: f64 = 1.0 / 9.0;

/// The smooth L1 loss of the box deltas of positive samples, summed and divided by the number of all samples.
///
/// - `deltas`, `rows`: box deltas, and the row of each positive sample in them.
/// - `targets`, `positive`: the targets of each image, and the row of each positive sample in all of them.
/// - `count`: the number of all samples.
/// - `beta`: where the loss turns from a square to a line; 0 for a line.
pub fn box_delta_loss(
    deltas: Tensor<2>,
    rows: &[usize],
    targets: &[Tensor<2>],
    positive: &[usize],
    count: usize,
    beta: f64,
) -> Tensor<1> {
    if positive.is_empty() {
        return zero(deltas);
    }
    let targets = host::concatenate(targets).inner();
    let (deltas, targets) = (host::select_rows(&deltas, rows), host::select_rows(&targets, positive));
    let sum = if beta > 0.0 {
        let loss = SmoothL1LossConfig::new().with_beta(beta as f32).init();
        loss.forward_with_reduction(deltas, targets, Reduction::Sum)
    } else {
        // Burn's smooth L1 loss takes no beta of 0.
        (deltas - targets).abs().sum()
    };
    sum / count as f64
}

/// The mean of the cross entropy between the rows of `logits` and the column that each must choose.
pub fn cross_entropy(logits: Tensor<2>, columns: &[usize]) -> Tensor<1> {
    let [count, width] = logits.dims();
    let log_probabilities = activation::log_softmax(logits, 1).reshape([count * width]);
    host::select_rows(&log_probabilities, &places(columns, width))
        .mean()
        .neg()
}

/// The place of an element of each row in a table of `width` columns, by the element's column.
pub fn places(columns: &[usize], width: usize) -> Vec<usize> {
    let rows = columns.iter().enumerate();
    rows.map(|(row, column)| row * width + column).collect()
}

/// The mean of the binary cross entropy between probabilities, given as logits, and targets from 0 to 1.
///
/// Burn's own takes targets that are integers.
pub fn binary_cross_entropy_with_logits<const D: usize>(logits: Tensor<D>, targets: Tensor<D>) -> Tensor<1> {
    ((targets.neg() + 1.0) * logits.clone() - activation::log_sigmoid(logits)).mean()
}
