//! ONNX `ReduceMax` and `ReduceMin`, also of no elements, which Burn's own functions refuse.

use burn::tensor::kind::Ordered;
use burn::tensor::{ElementConversion, Tensor};

/// ONNX `ReduceMax`, or `ReduceMin` if `largest` is false, along `axes`, whose size becomes 1. Of no elements it is
/// `of_nothing`, which onnxruntime takes as minus infinity, or the smallest integer, for a maximum.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::onnx;
///
/// let boxes = Tensor::<2>::from_floats([[1.0, 4.0], [3.0, 2.0]], &Device::default());
/// let largest = onnx::extreme(boxes.clone(), &[0, 1], true, f32::NEG_INFINITY);
/// assert_eq!(largest.try_into_vec_as::<f32>().unwrap(), [4.0]);
/// let none = onnx::extreme(boxes.slice([0..0]), &[0, 1], true, f32::NEG_INFINITY);
/// assert_eq!(none.try_into_vec_as::<f32>().unwrap(), [f32::NEG_INFINITY]);
/// ```
///
/// # Panics
///
/// If an axis is not below `D`.
pub fn extreme<const D: usize, K: Ordered>(
    input: Tensor<D, K>,
    axes: &[usize],
    largest: bool,
    of_nothing: impl ElementConversion,
) -> Tensor<D, K> {
    let mut sizes = input.dims();
    if sizes.contains(&0) {
        axes.iter().for_each(|&axis| sizes[axis] = 1);
        return Tensor::full(sizes, of_nothing, (&input.device(), input.dtype()));
    }
    let along = |input: Tensor<D, K>, &axis: &usize| {
        if largest {
            input.max_dim(axis)
        } else {
            input.min_dim(axis)
        }
    };
    axes.iter().fold(input, along)
}
