//! Checks of arguments that several functions share.

use burn::tensor::{DType, Device, Tensor};

use crate::error::RoiError;

/// Checks that a tensor holds boxes, `[K, 4]`, and gives K.
pub fn boxes(argument: &'static str, boxes: &Tensor<2>) -> Result<usize, RoiError> {
    let [count, columns] = boxes.dims();
    if columns != 4 {
        return Err(RoiError::Shape {
            argument,
            shape: vec![count, columns],
            expected: "[K, 4]",
        });
    }
    Ok(count)
}

/// Checks that there is one entry for each of what `of` names.
pub fn length(argument: &'static str, length: usize, expected: usize, of: &'static str) -> Result<(), RoiError> {
    if length == expected {
        return Ok(());
    }
    Err(RoiError::Length {
        argument,
        length,
        expected,
        of,
    })
}

/// Checks that a tensor is on the device of another, `like`.
pub fn device(argument: &'static str, device: &Device, like: &'static str, expected: &Device) -> Result<(), RoiError> {
    if device == expected {
        return Ok(());
    }
    Err(RoiError::Device {
        argument,
        device: format!("{:?}", device.as_dispatch()),
        like,
        expected: format!("{:?}", expected.as_dispatch()),
    })
}

/// Checks that a threshold can be compared with.
pub fn threshold(argument: &'static str, threshold: f64) -> Result<(), RoiError> {
    if !threshold.is_nan() {
        return Ok(());
    }
    Err(RoiError::Option {
        argument,
        value: threshold.to_string(),
        expected: "a number",
    })
}

/// Checks that a tensor is of the dtype of another, `like`.
pub fn dtype(argument: &'static str, dtype: DType, like: &'static str, expected: DType) -> Result<(), RoiError> {
    if dtype == expected {
        return Ok(());
    }
    Err(RoiError::DType {
        argument,
        dtype,
        expected: format!("{expected:?}, as `{like}` is"),
    })
}

/// Checks the weights of a box's code, which are divided by.
pub fn weights(argument: &'static str, weights: &[f64; 4]) -> Result<(), RoiError> {
    let fits = |weight: &f64| weight.is_finite() && *weight != 0.0;
    if weights.iter().all(fits) {
        return Ok(());
    }
    Err(RoiError::Option {
        argument,
        value: format!("{weights:?}"),
        expected: "finite and not 0",
    })
}
