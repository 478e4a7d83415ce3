//! Checks of arguments that several functions share.

use burn::tensor::{DType, Device, Tensor};

use crate::error::RoiError;

/// Checks that a tensor holds boxes, `[K, 4]`, and returns K.
pub fn boxes(argument: &'static str, boxes: &Tensor<2>) -> Result<usize, RoiError> {
    rows::<4>(argument, boxes, "[K, 4]")
}

/// Checks that a tensor holds rotated boxes, `[K, 5]`, and returns K.
pub fn rotated_boxes(argument: &'static str, boxes: &Tensor<2>) -> Result<usize, RoiError> {
    rows::<5>(argument, boxes, "[K, 5]")
}

fn rows<const COLUMNS: usize>(
    argument: &'static str,
    boxes: &Tensor<2>,
    expected: &'static str,
) -> Result<usize, RoiError> {
    let [count, columns] = boxes.dims();
    if columns != COLUMNS {
        return Err(RoiError::Shape {
            argument,
            shape: vec![count, columns],
            expected,
        });
    }
    Ok(count)
}

/// Checks that there are box deltas for each of `count` regions, of each class or of all classes together.
pub fn box_regression(box_regression: &Tensor<2>, count: usize, classes: usize) -> Result<(), RoiError> {
    let [rows, columns] = box_regression.dims();
    length("box_regression", rows, count, "row of `class_logits`")?;
    if columns != 4 * classes && columns != 4 {
        return Err(RoiError::Shape {
            argument: "box_regression",
            shape: vec![rows, columns],
            expected: "[K, 4 * classes] or [K, 4], where `class_logits` is [K, classes]",
        });
    }
    Ok(())
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

/// Checks that a tensor is on the device of the tensor `like`.
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

/// Checks that a tensor has the dtype of the tensor `like`.
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

/// Checks that an option is not NaN.
pub fn not_nan(argument: &'static str, value: f64) -> Result<(), RoiError> {
    if !value.is_nan() {
        return Ok(());
    }
    Err(RoiError::Option {
        argument,
        value: value.to_string(),
        expected: "a number",
    })
}

/// Checks the weights of box deltas. Decoding divides by them.
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

/// Checks that each label names one of the classes.
pub fn labels(labels: &[i128], classes: usize) -> Result<(), RoiError> {
    let in_range = |label: i128| usize::try_from(label).is_ok_and(|label| label < classes);
    match labels.iter().position(|&label| !in_range(label)) {
        None => Ok(()),
        Some(row) => Err(RoiError::Label {
            row,
            label: labels[row],
            classes,
        }),
    }
}
