//! Checks of arguments that several functions share.

use burn::tensor::kind::Basic;
use burn::tensor::{Int, Tensor};

use crate::error::DetectionError;
use burn_roi::internal::{same_device, same_dtype};
use burn_roi::{MAXIMUM_OUTPUT_SIZE, RoiError};

/// Checks an option against its range.
pub fn check(
    argument: &'static str,
    fits: bool,
    value: impl ToString,
    expected: &'static str,
) -> Result<(), DetectionError> {
    match fits {
        true => Ok(()),
        false => Err(option(argument, value, expected)),
    }
}

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

/// Checks the shape of a tensor.
pub fn check_shape(
    argument: &'static str,
    fits: bool,
    found: &[usize],
    expected: &'static str,
) -> Result<(), DetectionError> {
    match fits {
        true => Ok(()),
        false => Err(shape(argument, found, expected)),
    }
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
    let expected = ["[K, 4]", "[K, 5]", "[K, 6]"][COLUMNS - 4];
    check_shape(argument, columns == COLUMNS, &[count, columns], expected)?;
    Ok(count)
}

/// Checks that there are box deltas for each region of the logits, of each class or of all classes together.
pub fn box_regression(box_regression: &Tensor<2>, class_logits: &Tensor<2>) -> Result<(), DetectionError> {
    let ([rows, columns], [count, classes]) = (box_regression.dims(), class_logits.dims());
    length("box_regression", rows, count, "row of `class_logits`")?;
    let fits = columns == 4 * classes || columns == 4;
    let expected = "[K, 4 * classes] or [K, 4], where `class_logits` is [K, classes]";
    check_shape("box_regression", fits, &[rows, columns], expected)?;
    device("box_regression", box_regression, "class_logits", class_logits)
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
pub fn device<const D: usize, K: Basic, const E: usize, L: Basic>(
    argument: &'static str,
    tensor: &Tensor<D, K>,
    like: &'static str,
    expected: &Tensor<E, L>,
) -> Result<(), DetectionError> {
    let (device, expected) = (tensor.device(), expected.device());
    Ok(same_device(
        argument,
        device.as_dispatch(),
        like,
        expected.as_dispatch(),
    )?)
}

/// Checks that a tensor has the dtype of the tensor `like`.
pub fn dtype<const D: usize, const E: usize>(
    argument: &'static str,
    tensor: &Tensor<D>,
    like: &'static str,
    expected: &Tensor<E>,
) -> Result<(), DetectionError> {
    Ok(same_dtype(argument, tensor.dtype(), like, expected.dtype())?)
}

/// Checks that a tensor is on the device of the tensor `like` and has its dtype.
pub fn device_and_dtype<const D: usize, const E: usize>(
    argument: &'static str,
    tensor: &Tensor<D>,
    like: &'static str,
    expected: &Tensor<E>,
) -> Result<(), DetectionError> {
    device(argument, tensor, like, expected)?;
    dtype(argument, tensor, like, expected)
}

/// Checks what NMS takes besides boxes.
pub fn suppression(
    boxes: &Tensor<2>,
    scores: &Tensor<1>,
    classes: Option<&Tensor<1, Int>>,
    iou_threshold: f64,
) -> Result<(), DetectionError> {
    let [count, _] = boxes.dims();
    length("scores", scores.dims()[0], count, "row of `boxes`")?;
    device("scores", scores, "boxes", boxes)?;
    not_nan("iou_threshold", iou_threshold)?;
    if let Some(classes) = classes {
        length("classes", classes.dims()[0], count, "row of `boxes`")?;
        device("classes", classes, "boxes", boxes)?;
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
    check(argument, (1..=MAXIMUM_OUTPUT_SIZE).contains(&size), size, "1 to 32767")
}

/// Checks that an option is not NaN.
pub fn not_nan(argument: &'static str, value: f64) -> Result<(), DetectionError> {
    check(argument, !value.is_nan(), value, "a number")
}

/// Checks the weights of box deltas. Decoding divides by them.
pub fn weights(argument: &'static str, weights: &[f64; 4]) -> Result<(), DetectionError> {
    let fits = |weight: &f64| weight.is_finite() && *weight != 0.0;
    let fits = weights.iter().all(fits);
    check(argument, fits, format_args!("{weights:?}"), "finite and not 0")
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
