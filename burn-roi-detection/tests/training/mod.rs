//! What the heads are trained with.

mod awaiting;
mod bad_keypoints;
mod bad_losses;
mod bad_targets;
mod losses;
mod losses_by_hand;
mod permutations;
mod targets;
mod targets_by_hand;

use burn::tensor::{Device, Int, Tensor};

fn ints<const N: usize>(values: [i64; N], device: &Device) -> Tensor<1, Int> {
    Tensor::from_ints(values, device)
}

fn ten_by_ten(device: &Device) -> Tensor<2> {
    Tensor::from_floats([[0.0, 0.0, 10.0, 10.0]], device)
}

fn read_ints(tensor: &Tensor<1, Int>) -> Vec<i64> {
    tensor.to_data().iter::<i64>().collect()
}

fn read_floats<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}
