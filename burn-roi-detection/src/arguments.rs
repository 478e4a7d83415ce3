//! Checks of arguments that several functions share.

use burn::tensor::{DType, Device, Int, Tensor};

use crate::error::DetectionError;
use burn_roi::{MAXIMUM_OUTPUT_SIZE, RoiError};

/// The error of an option that is out of its range.
pub fn option(argument: &'static str, value: impl ToString, expected: &'static str) -> DetectionError {
    let value = value.to_string();
    RoiError::Option {
        argument,
        value,
        expected,
    }
    .into()
}

/// The error of a tensor of the wrong shape.
pub fn shape(argument: &'static str, shape: &[usize], expected: &'static str) -> DetectionError {
    let shape = shape.to_vec();
    RoiError::Shape {
        argument,
        shape,
        expected,
    }
    .into()
}

/// Checks that a tensor holds boxes, `[K, 4]`, and returns K.
pub fn boxes(argument: &'static str, boxes: &Tensor<2>) -> Result<usize, DetectionError> {
    rows::<4>(argument, boxes)
}

/// Checks that a tensor holds rotated boxes, `[K, 5]`, and returns K.
pub fn rotated_boxes(argument: &'static str, boxes: &Tensor<2>) -> Result<usize, DetectionError> {
    rows::<5>(argument, boxes)
}

/// Checks that a tensor has this many columns, 4 to 6, and returns its number of rows.
pub fn rows<const COLUMNS: usize>(argument: &'static str, boxes: &Tensor<2>) -> Result<usize, DetectionError> {
    let [count, columns] = boxes.dims();
    if columns != COLUMNS {
        let expected = ["[K, 4]", "[K, 5]", "[K, 6]"][COLUMNS - 4];
        return Err(shape(argument, &[count, columns], expected));
    }
    Ok(count)
}

/// Checks that there are box deltas for each region of the logits, of each class or of all classes together.
pub fn box_regression(box_regression: &Tensor<2>, class_logits: &Tensor<2>) -> Result<(), DetectionError> {
    let ([rows, columns], [count, classes]) = (box_regression.dims(), class_logits.dims());
    length("box_regression", rows, count, "row of `class_logits`")?;
    if columns != 4 * classes && columns != 4 {
        let expected = "[K, 4 * classes] or [K, 4], where `class_logits` is [K, classes]";
        return Err(shape("box_regression", &[rows, columns], expected));
    }
    let (on_device, expected) = (box_regression.device(), class_logits.device());
    device("box_regression", &on_device, "class_logits", &expected)
}

/// Checks that there is one entry for each of what `of` names.
pub fn length(argument: &'static str, length: usize, expected: usize, of: &'static str) -> Result<(), DetectionError> {
    if length == expected {
        return Ok(());
    }
    Err(DetectionError::Length {
        argument,
        length,
        expected,
        of,
    })
}

/// Checks that a tensor is on the device of the tensor `like`.
pub fn device(
    argument: &'static str,
    device: &Device,
    like: &'static str,
    expected: &Device,
) -> Result<(), DetectionError> {
    if device == expected {
        return Ok(());
    }
    Err(RoiError::Device {
        argument,
        device: format!("{:?}", device.as_dispatch()),
        like,
        expected: format!("{:?}", expected.as_dispatch()),
    }
    .into())
}

/// Checks that a tensor has the dtype of the tensor `like`.
pub fn dtype(argument: &'static str, dtype: DType, like: &'static str, expected: DType) -> Result<(), DetectionError> {
    if dtype == expected {
        return Ok(());
    }
    Err(RoiError::DType {
        argument,
        dtype,
        expected: format!("{expected:?}, as `{like}` is"),
    }
    .into())
}

/// Checks what NMS takes besides boxes.
pub fn suppression(
    boxes: &Tensor<2>,
    scores: &Tensor<1>,
    classes: Option<&Tensor<1, Int>>,
    iou_threshold: f64,
) -> Result<(), DetectionError> {
    let (count, on_device) = (boxes.dims()[0], boxes.device());
    length("scores", scores.dims()[0], count, "row of `boxes`")?;
    device("scores", &scores.device(), "boxes", &on_device)?;
    not_nan("iou_threshold", iou_threshold)?;
    if let Some(classes) = classes {
        length("classes", classes.dims()[0], count, "row of `boxes`")?;
        device("classes", &classes.device(), "boxes", &on_device)?;
    }
    Ok(())
}

/// The error of a value of the targets of an image.
pub fn target(
    argument: &'static str,
    image: usize,
    row: usize,
    value: String,
    expected: impl Into<String>,
) -> DetectionError {
    let expected = expected.into();
    DetectionError::Target {
        argument,
        image,
        row,
        value,
        expected,
    }
}

/// Checks the height and width of a heatmap or a mask.
pub fn output_size(argument: &'static str, size: usize) -> Result<(), DetectionError> {
    match (1..=MAXIMUM_OUTPUT_SIZE).contains(&size) {
        true => Ok(()),
        false => Err(option(argument, size, "1 to 32767")),
    }
}

/// Checks that an option is not NaN.
pub fn not_nan(argument: &'static str, value: f64) -> Result<(), DetectionError> {
    if !value.is_nan() {
        return Ok(());
    }
    Err(option(argument, value, "a number"))
}

/// Checks the weights of box deltas. Decoding divides by them.
pub fn weights(argument: &'static str, weights: &[f64; 4]) -> Result<(), DetectionError> {
    let fits = |weight: &f64| weight.is_finite() && *weight != 0.0;
    if weights.iter().all(fits) {
        return Ok(());
    }
    Err(option(argument, format!("{weights:?}"), "finite and not 0"))
}

/// Checks that each label names one of the classes.
pub fn labels(labels: &[i128], classes: usize) -> Result<(), DetectionError> {
    let in_range = |label: i128| usize::try_from(label).is_ok_and(|label| label < classes);
    match labels.iter().position(|&label| !in_range(label)) {
        None => Ok(()),
        Some(row) => Err(DetectionError::Label {
            row,
            label: labels[row],
            classes,
        }),
    }
}
