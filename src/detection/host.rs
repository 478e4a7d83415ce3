//! Boxes and scores on the host, where what is kept decides the size of a result.

use burn::tensor::{DType, Device, Int, Tensor, TensorData, bf16, f16};

/// Reads boxes `[K, 4]`.
pub fn read_boxes(boxes: &Tensor<2>) -> Vec<[f64; 4]> {
    if boxes.dims()[0] == 0 {
        return Vec::new();
    }
    let coordinates: Vec<f64> = boxes.to_data().iter::<f64>().collect();
    coordinates
        .chunks_exact(4)
        .map(|row| [row[0], row[1], row[2], row[3]])
        .collect()
}

/// Reads all elements of a tensor of floats.
pub fn read_floats<const D: usize>(floats: &Tensor<D>) -> Vec<f64> {
    if floats.shape().num_elements() == 0 {
        return Vec::new();
    }
    floats.to_data().iter::<f64>().collect()
}

/// Reads all elements of a tensor of integers.
pub fn read_ints(ints: &Tensor<1, Int>) -> Vec<i64> {
    if ints.dims()[0] == 0 {
        return Vec::new();
    }
    ints.to_data().iter::<i64>().collect()
}

/// The number that a tensor of `dtype` holds for `value`. What is computed in f64 from two such numbers and
/// then rounded is what arithmetic in `dtype` itself gives.
pub fn rounded(value: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F64 => value,
        DType::F16 => f16::from_f64(value).to_f64(),
        DType::BF16 => bf16::from_f64(value).to_f64(),
        _ => f64::from(value as f32),
    }
}

/// Whether both sides of a box are at least `min_size` long, as its `dtype` computes and compares them. A
/// side that is NaN is not.
pub fn is_large(&[x1, y1, x2, y2]: &[f64; 4], min_size: f64, dtype: DType) -> bool {
    let min_size = rounded(min_size, dtype);
    rounded(x2 - x1, dtype) >= min_size && rounded(y2 - y1, dtype) >= min_size
}

/// Indices as a tensor of the device's own integers.
pub fn indices(indices: &[usize], device: &Device) -> Tensor<1, Int> {
    let values: Vec<i64> = indices.iter().map(|&index| index as i64).collect();
    ints(values, device)
}

/// Numbers as a tensor of the device's own integers.
pub fn ints(values: Vec<i64>, device: &Device) -> Tensor<1, Int> {
    let count = values.len();
    Tensor::from_data(TensorData::new(values, [count]), device)
}

/// The rows of a tensor that indices name.
pub fn select_rows<const D: usize>(tensor: &Tensor<D>, rows: &[usize]) -> Tensor<D> {
    let device = tensor.device();
    if rows.is_empty() {
        let mut dims = tensor.dims();
        dims[0] = 0;
        return Tensor::zeros(dims, (&device, tensor.dtype()));
    }
    tensor.clone().select(0, indices(rows, &device))
}
