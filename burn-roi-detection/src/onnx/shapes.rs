//! ONNX `Expand`, `Reshape`, `Flatten`, `Unsqueeze` and `Squeeze` for tensors without elements, which a picture without
//! regions has. Burn's own refuse them.

use burn::tensor::Tensor;
use burn::tensor::kind::Basic;

/// ONNX `Expand`: repeats a tensor along the axes of size 1. The rank `R` of the result is the larger one of the
/// input's and of how many sizes are asked for.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::onnx;
///
/// let column = Tensor::<2>::ones([3, 1], &Device::default());
/// assert_eq!(onnx::expand::<2, 3, _>(column.clone(), &[2, 1, 4]).dims(), [2, 3, 4]);
/// assert_eq!(onnx::expand::<2, 2, _>(column.slice([0..0]), &[0, 4]).dims(), [0, 4]);
/// ```
///
/// # Panics
///
/// If a size is negative, or is neither the input's nor 1 where the input's is not 1.
pub fn expand<const D: usize, const R: usize, K: Basic>(input: Tensor<D, K>, sizes: &[i64]) -> Tensor<R, K> {
    let dims = input.dims();
    let result: [usize; R] = std::array::from_fn(|at| {
        let from_end = R - at;
        let given = dims.iter().rev().nth(from_end - 1);
        let asked = sizes.iter().rev().nth(from_end - 1).copied().unwrap_or(1);
        let given = given.copied().unwrap_or(1);
        let asked = usize::try_from(asked).unwrap_or_else(|_| panic!("`Expand` is asked for the sizes {sizes:?}"));
        match (given, asked) {
            (given, 1) => given,
            (1, asked) => asked,
            (given, asked) if given == asked => asked,
            _ => panic!("`Expand` of a tensor {dims:?} is asked for the sizes {sizes:?}"),
        }
    });
    if result.contains(&0) {
        return Tensor::empty(result, (&input.device(), input.dtype()));
    }
    input.expand(result.map(|size| size as i64))
}

/// ONNX `Reshape`: the same elements in other sizes. A size of -1 follows from the others, and one of 0 is the input's,
/// unless `allow_zero` is set. Without elements, -1 is what it would be if sizes of 0 were 1.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::onnx;
///
/// let deltas = Tensor::<2>::ones([2, 12], &Device::default());
/// assert_eq!(onnx::reshape::<2, 3, _>(deltas.clone(), &[0, -1, 4], false).dims(), [2, 3, 4]);
/// assert_eq!(onnx::reshape::<2, 3, _>(deltas.slice([0..0]), &[0, -1, 4], false).dims(), [0, 3, 4]);
/// ```
///
/// # Panics
///
/// If there are not `R` sizes, or if they are not those of as many elements.
pub fn reshape<const D: usize, const R: usize, K: Basic>(
    input: Tensor<D, K>,
    sizes: &[i64],
    allow_zero: bool,
) -> Tensor<R, K> {
    let given = input.dims();
    let refuse = || -> usize { panic!("`Reshape` of a tensor {given:?} is asked for the sizes {sizes:?}") };
    if sizes.len() != R {
        refuse();
    }
    let mut result: [usize; R] = std::array::from_fn(|at| match sizes[at] {
        0 if !allow_zero => given.get(at).copied().unwrap_or_else(refuse),
        -1 => 1,
        size => usize::try_from(size).unwrap_or_else(|_| refuse()),
    });
    let product = |sizes: &[usize]| sizes.iter().map(|&size| size.max(1)).product::<usize>();
    if let Some(at) = sizes.iter().position(|&size| size == -1) {
        result[at] = product(&given) / product(&result);
        // All of an empty tensor's elements in one row.
        if given.contains(&0) && !result.contains(&0) {
            result[at] = 0;
        }
    }
    if given.iter().product::<usize>() != result.iter().product::<usize>() {
        refuse();
    }
    of_sizes(input, &result)
}

/// ONNX `Flatten`: the axes before `axis` become the first, and the others the second.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::onnx;
///
/// let pooled = Tensor::<4>::ones([2, 8, 7, 7], &Device::default());
/// assert_eq!(onnx::flatten(pooled.slice([0..0]), 1).dims(), [0, 392]);
/// ```
///
/// # Panics
///
/// If `axis` is above the rank.
pub fn flatten<const D: usize, K: Basic>(input: Tensor<D, K>, axis: usize) -> Tensor<2, K> {
    let dims = input.dims();
    let (before, after) = dims.split_at(axis);
    let product = |sizes: &[usize]| sizes.iter().product::<usize>() as i64;
    reshape(input, &[product(before), product(after)], true)
}

/// ONNX `Unsqueeze`: new axes of size 1, which are `axes` of the result.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::onnx;
///
/// let scores = Tensor::<1>::ones([3], &Device::default());
/// assert_eq!(onnx::unsqueeze::<1, 3, _>(scores.clone(), &[0, 2]).dims(), [1, 3, 1]);
/// assert_eq!(onnx::unsqueeze::<1, 3, _>(scores.slice([0..0]), &[0, 2]).dims(), [1, 0, 1]);
/// ```
///
/// # Panics
///
/// If there are not `R - D` axes below `R`.
pub fn unsqueeze<const D: usize, const R: usize, K: Basic>(input: Tensor<D, K>, axes: &[usize]) -> Tensor<R, K> {
    let given = input.dims();
    let mut sizes = given.iter();
    let size = |axis: usize| match axes.contains(&axis) {
        true => Some(1),
        false => sizes.next().copied(),
    };
    let result: Vec<usize> = (0..R).filter_map(size).collect();
    let fits = result.len() == R && sizes.next().is_none();
    assert!(
        fits,
        "`Unsqueeze` of a tensor {given:?} to {R} axes is asked for the axes {axes:?}"
    );
    of_sizes(input, &result)
}

/// ONNX `Squeeze`: without `axes`, whose size is 1.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::onnx;
///
/// let boxes = Tensor::<3>::ones([1, 5, 4], &Device::default());
/// assert_eq!(onnx::squeeze::<3, 2, _>(boxes.clone(), &[0]).dims(), [5, 4]);
/// assert_eq!(onnx::squeeze::<3, 2, _>(boxes.slice([0..1, 0..0]), &[0]).dims(), [0, 4]);
/// ```
///
/// # Panics
///
/// If there are not `D - R` axes, or if one of them has another size.
pub fn squeeze<const D: usize, const R: usize, K: Basic>(input: Tensor<D, K>, axes: &[usize]) -> Tensor<R, K> {
    let given = input.dims();
    let kept = (0..D).filter(|axis| !axes.contains(axis)).map(|axis| given[axis]);
    let result: Vec<usize> = kept.collect();
    let fits = result.len() == R && axes.iter().all(|&axis| given.get(axis) == Some(&1));
    assert!(
        fits,
        "`Squeeze` of a tensor {given:?} to {R} axes is asked for the axes {axes:?}"
    );
    of_sizes(input, &result)
}

/// The same elements in other sizes, of which there are `R`.
fn of_sizes<const D: usize, const R: usize, K: Basic>(input: Tensor<D, K>, sizes: &[usize]) -> Tensor<R, K> {
    let sizes: [usize; R] = std::array::from_fn(|axis| sizes[axis]);
    if sizes.contains(&0) {
        return Tensor::empty(sizes, (&input.device(), input.dtype()));
    }
    input.reshape(sizes)
}
