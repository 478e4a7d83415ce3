//! Heads whose last class is the background.

use burn::tensor::Tensor;

use super::config::Background;

/// Moves the background from the last class to the first, unless it is there.
///
/// - `logits`: `[K, classes]`. K is above 0.
/// - `deltas`: `[K, 4 * (classes - 1)]`, or `[K, 4]` if all classes have the same.
/// - Returns `[K, classes]`, and `[K, 4 * classes]` or `[K, 4]`.
pub fn background_first(background: Background, logits: Tensor<2>, deltas: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
    if background == Background::First {
        return (logits, deltas);
    }
    let [count, classes] = logits.dims();
    let background = logits.clone().slice_dim(1, classes - 1..classes);
    let logits = Tensor::cat(vec![background, logits.slice_dim(1, 0..classes - 1)], 1);
    // Those of one class are those of all classes.
    if deltas.dims()[1] == 4 {
        return (logits, deltas);
    }
    let of_background = Tensor::zeros([count, 4], (&deltas.device(), deltas.dtype()));
    (logits, Tensor::cat(vec![of_background, deltas], 1))
}
