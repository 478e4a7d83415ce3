//! ONNX `Softmax` and `LogSoftmax` before opset 13, which take all axes from one on as one axis.

use burn::tensor::Tensor;
use burn::tensor::activation;

use super::{flatten, reshape};

/// ONNX `Softmax` of the opsets 1 to 12: the sum over all axes from `axis` on is 1.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::onnx;
///
/// let scores = Tensor::<3>::zeros([2, 2, 4], &Device::default());
/// let shares = onnx::softmax_of_all_from(scores, 1);
/// assert_eq!(shares.try_into_vec_as::<f32>().unwrap(), [0.125; 16]);
/// ```
///
/// # Panics
///
/// If `axis` is above the rank.
pub fn softmax_of_all_from<const D: usize>(input: Tensor<D>, axis: usize) -> Tensor<D> {
    as_one_axis(input, axis, |rows| activation::softmax(rows, 1))
}

/// ONNX `LogSoftmax` of the opsets 1 to 12: the logarithm of [`softmax_of_all_from`].
///
/// # Panics
///
/// If `axis` is above the rank.
pub fn log_softmax_of_all_from<const D: usize>(input: Tensor<D>, axis: usize) -> Tensor<D> {
    as_one_axis(input, axis, |rows| activation::log_softmax(rows, 1))
}

fn as_one_axis<const D: usize>(
    input: Tensor<D>,
    axis: usize,
    function: impl FnOnce(Tensor<2>) -> Tensor<2>,
) -> Tensor<D> {
    let sizes = input.dims();
    if sizes.contains(&0) {
        return input;
    }
    reshape(function(flatten(input, axis)), &sizes.map(|size| size as i64), true)
}
