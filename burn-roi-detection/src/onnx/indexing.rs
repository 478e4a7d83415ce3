//! ONNX `GatherND` and `ScatterND`, also of no index tuples, which Burn's own functions refuse.

use burn::tensor::kind::Basic;
use burn::tensor::{DType, IndexingUpdateOp, Int, Tensor, TensorData};

/// ONNX `GatherND`: the slices of `data` that the tuples along the last axis of `indices` name. A negative index counts
/// from the end. The first `batch_dims` axes of both are the same, and a tuple names a slice within its own batch.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_roi_detection::onnx;
///
/// let device = Device::default();
/// let table = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], &device);
/// let indices = Tensor::<2, Int>::from_ints([[2], [-3]], &device);
/// let rows = onnx::gather_nd::<2, 2, 2, _>(table.clone(), indices.clone(), 0);
/// assert_eq!(rows.try_into_vec_as::<f32>().unwrap(), [5.0, 6.0, 1.0, 2.0]);
/// assert_eq!(onnx::gather_nd::<2, 2, 2, _>(table, indices.slice([0..0]), 0).dims(), [0, 2]);
/// ```
///
/// # Panics
///
/// If the result does not have `R` axes, or where Burn's `gather_nd` panics.
pub fn gather_nd<const D: usize, const I: usize, const R: usize, K: Basic>(
    data: Tensor<D, K>,
    indices: Tensor<I, Int>,
    batch_dims: usize,
) -> Tensor<R, K> {
    let (of_data, of_indices) = (data.dims(), indices.dims());
    let (tuples, length) = (&of_indices[..I - 1], of_indices[I - 1]);
    let sizes: Vec<usize> = tuples.iter().chain(&of_data[batch_dims + length..]).copied().collect();
    assert_eq!(
        sizes.len(),
        R,
        "`GatherND` of {of_data:?} at {of_indices:?} has another rank than {R}"
    );
    if sizes.contains(&0) {
        let sizes: [usize; R] = std::array::from_fn(|axis| sizes[axis]);
        return Tensor::empty(sizes, (&data.device(), data.dtype()));
    }
    let wrapped = wrapped(indices, &of_data[batch_dims..]);
    let mut columns: Vec<_> = (0..batch_dims).map(|axis| positions_along(&wrapped, axis)).collect();
    columns.push(wrapped);
    data.gather_nd(Tensor::cat(columns, I - 1))
}

/// ONNX `ScatterND`: `data` with the slices that the tuples along the last axis of `indices` name replaced by
/// `updates`, or combined with them. A negative index counts from the end.
///
/// ```
/// use burn::tensor::{Device, IndexingUpdateOp, Int, Tensor};
/// use burn_roi_detection::onnx;
///
/// let device = Device::default();
/// let table = Tensor::<1>::from_floats([1.0, 2.0, 3.0], &device);
/// let indices = Tensor::<2, Int>::from_ints([[0], [-1]], &device);
/// let updates = Tensor::<1>::from_floats([10.0, 20.0], &device);
/// let replaced = onnx::scatter_nd(table, indices, updates, IndexingUpdateOp::Assign);
/// assert_eq!(replaced.try_into_vec_as::<f32>().unwrap(), [10.0, 2.0, 20.0]);
/// ```
///
/// # Panics
///
/// Where Burn's `scatter_nd` panics.
pub fn scatter_nd<const D: usize, const I: usize, const U: usize, K: Basic>(
    data: Tensor<D, K>,
    indices: Tensor<I, Int>,
    updates: Tensor<U, K>,
    update: IndexingUpdateOp,
) -> Tensor<D, K> {
    if indices.dims().contains(&0) || updates.dims().contains(&0) {
        return data;
    }
    let indices = wrapped(indices, &data.dims());
    data.scatter_nd(indices, updates, update)
}

/// Indices from 0, of which the last axis is tuples into a tensor of `sizes`.
fn wrapped<const I: usize>(indices: Tensor<I, Int>, sizes: &[usize]) -> Tensor<I, Int> {
    let (length, device) = (indices.dims()[I - 1], indices.device());
    let sizes: Vec<i64> = sizes[..length].iter().map(|&size| size as i64).collect();
    let mut shape = [1; I];
    shape[I - 1] = length;
    let dtype = indices.dtype();
    let sizes = Tensor::<I, Int>::from_data(TensorData::new(sizes, shape), (&device, DType::I64)).cast(dtype);
    let is_negative = indices.clone().lower_elem(0);
    indices.clone().mask_where(is_negative, indices.add(sizes))
}

/// For each tuple, its position along an axis before the last: a tuple of one index.
fn positions_along<const I: usize>(indices: &Tensor<I, Int>, axis: usize) -> Tensor<I, Int> {
    let mut sizes = indices.dims();
    sizes[I - 1] = 1;
    let mut shape = [1; I];
    shape[axis] = sizes[axis];
    let options = (&indices.device(), indices.dtype());
    Tensor::<1, Int>::arange(0..sizes[axis] as i64, options)
        .reshape(shape)
        .expand(sizes)
}
