//! Values of tensors on the host. They are read back where they decide how many rows a result has.

use std::ops::Range;

use burn::tensor::kind::Basic;
use burn::tensor::{DType, Device, Int, Tensor, TensorData, bf16, f16};

use crate::error::DetectionError;
use burn_roi::internal::{integers, is_host, read};

/// Reads boxes `[K, 4]`.
pub async fn read_boxes(boxes: &Tensor<2>) -> Result<Vec<[f64; 4]>, DetectionError> {
    read_rows(boxes).await
}

/// Reads the rows of a tensor whose last axis has this many columns.
pub async fn read_rows<const D: usize, const COLUMNS: usize>(
    tensor: &Tensor<D>,
) -> Result<Vec<[f64; COLUMNS]>, DetectionError> {
    let elements = read_floats(tensor).await?;
    let (rows, _) = elements.as_chunks::<COLUMNS>();
    Ok(rows.to_vec())
}

/// Reads all elements of a float tensor.
pub async fn read_floats<const D: usize>(floats: &Tensor<D>) -> Result<Vec<f64>, DetectionError> {
    if floats.shape().num_elements() == 0 {
        return Ok(Vec::new());
    }
    Ok(read(is_host(&floats.device()), || floats.to_data_async())
        .await?
        .iter::<f64>()
        .collect())
}

/// Reads all elements of an integer tensor.
pub async fn read_ints(ints: &Tensor<1, Int>) -> Result<Vec<i128>, DetectionError> {
    if ints.dims()[0] == 0 {
        return Ok(Vec::new());
    }
    let data = read(is_host(&ints.device()), || ints.to_data_async()).await?;
    Ok(integers(&data))
}

/// Reads all elements of each integer tensor.
pub async fn read_lists(tensors: &[Tensor<1, Int>]) -> Result<Vec<Vec<i128>>, DetectionError> {
    let mut lists = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        lists.push(read_ints(tensor).await?);
    }
    Ok(lists)
}

/// The value that a tensor of `dtype` stores for `value`.
///
/// A sum, difference, product or quotient of two such values that is computed in f64 and then rounded with this
/// function is what the same operation in `dtype` gives.
pub fn rounded(value: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F64 => value,
        DType::F16 => f16::from_f64(value).to_f64(),
        DType::BF16 => bf16::from_f64(value).to_f64(),
        _ => f64::from(value as f32),
    }
}

/// Whether both sides of a box are at least `min_size` long, computed and compared in the boxes' `dtype`. A side that
/// is NaN is not.
pub fn is_large(&[x1, y1, x2, y2]: &[f64; 4], min_size: f64, dtype: DType) -> bool {
    let min_size = rounded(min_size, dtype);
    rounded(x2 - x1, dtype) >= min_size && rounded(y2 - y1, dtype) >= min_size
}

/// Of the elements of `values` that `indices` names, the indices of the `count` largest, by decreasing value. Of equal
/// values the lower index comes first. A value that is NaN is left out.
pub fn top_n(values: &[f64], mut indices: Vec<usize>, count: usize) -> Vec<usize> {
    indices.retain(|&index| !values[index].is_nan());
    let by_decreasing_value = |left: &usize, right: &usize| {
        let order = values[*right].partial_cmp(&values[*left]);
        order.expect("NaN is left out").then(left.cmp(right))
    };
    if count < indices.len() {
        indices.select_nth_unstable_by(count, by_decreasing_value);
        indices.truncate(count);
    }
    indices.sort_unstable_by(by_decreasing_value);
    indices
}

/// Indices as a tensor of the device's integer dtype.
pub fn indices(indices: &[usize], device: &Device) -> Tensor<1, Int> {
    let values: Vec<i64> = indices.iter().map(|&index| index as i64).collect();
    ints(values, device)
}

/// Integers as a tensor of the device's integer dtype.
pub fn ints(values: Vec<i64>, device: &Device) -> Tensor<1, Int> {
    let count = values.len();
    Tensor::from_data(TensorData::new(values, [count]), device)
}

/// The rows of a tensor that `rows` names.
pub fn select_rows<const D: usize, K: Basic>(tensor: &Tensor<D, K>, rows: &[usize]) -> Tensor<D, K> {
    let device = tensor.device();
    if rows.is_empty() {
        let mut dims = tensor.dims();
        dims[0] = 0;
        return Tensor::zeros(dims, (&device, tensor.dtype()));
    }
    tensor.clone().select(0, indices(rows, &device))
}

/// The rows of a tensor that a range of `rows` names.
pub fn select_range<const D: usize, K: Basic>(
    tensor: &Tensor<D, K>,
    rows: &Tensor<1, Int>,
    range: Range<usize>,
) -> Tensor<D, K> {
    if range.is_empty() {
        return select_rows(tensor, &[]);
    }
    tensor.clone().select(0, rows.clone().slice_dim(0, range))
}

/// Ranges of so many rows, one after the other.
pub fn consecutive(mut start: usize, counts: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let range = |count: usize| {
        let range = start..start + count;
        start = range.end;
        range
    };
    counts.map(range).collect()
}

/// The rows of all tensors, of which there is at least one.
pub fn concatenate<const D: usize, K: Basic>(tensors: &[Tensor<D, K>]) -> Tensor<D, K> {
    // Not every backend concatenates tensors without rows.
    let mut not_empty: Vec<_> = tensors.iter().filter(|tensor| tensor.dims()[0] > 0).cloned().collect();
    match not_empty.len() {
        0 => tensors[0].clone(),
        1 => not_empty.remove(0),
        _ => Tensor::cat(not_empty, 0),
    }
}
