//! Checks of the targets of each image.

use burn::tensor::{Int, Tensor};

use super::super::integers::largest_kept;
use super::super::post_processing::BACKGROUND;
use super::super::{arguments, host};
use crate::error::DetectionError;

/// Checks the ground-truth boxes of an image, and that they go with `like`, its proposals or anchors. The boxes are
/// read back to the host.
pub async fn boxes(
    image: usize,
    boxes: &Tensor<2>,
    like: &'static str,
    of_image: &Tensor<2>,
) -> Result<(), DetectionError> {
    arguments::boxes("gt_boxes", boxes)?;
    arguments::device("gt_boxes", &boxes.device(), like, &of_image.device())?;
    arguments::dtype("gt_boxes", boxes.dtype(), like, of_image.dtype())?;
    // torchvision's detectors refuse such boxes too: their box deltas are infinite or NaN.
    let fits = |&[x1, y1, x2, y2]: &[f64; 4]| {
        let finite = [x1, y1, x2, y2].iter().all(|coordinate| coordinate.is_finite());
        finite && x1 < x2 && y1 < y2
    };
    let host_boxes = host::read_boxes(boxes).await?;
    match host_boxes.iter().position(|coordinates| !fits(coordinates)) {
        None => Ok(()),
        Some(row) => Err(DetectionError::Target {
            argument: "gt_boxes",
            image,
            row,
            value: format!("{:?}", host_boxes[row]),
            expected: "finite, with x1 below x2 and y1 below y2".to_string(),
        }),
    }
}

/// Reads boxes that have to be finite.
pub async fn finite_boxes(
    image: usize,
    argument: &'static str,
    boxes: &Tensor<2>,
) -> Result<Vec<[f64; 4]>, DetectionError> {
    let boxes = host::read_boxes(boxes).await?;
    let is_finite = |coordinates: &[f64; 4]| coordinates.iter().all(|coordinate| coordinate.is_finite());
    match boxes.iter().position(|coordinates| !is_finite(coordinates)) {
        None => Ok(boxes),
        Some(row) => Err(DetectionError::Target {
            argument,
            image,
            row,
            value: format!("{:?}", boxes[row]),
            expected: "finite".to_string(),
        }),
    }
}

/// Checks the label of each ground-truth box of an image. The labels are read back to the host.
pub async fn labels(image: usize, labels: &Tensor<1, Int>, boxes: &Tensor<2>) -> Result<(), DetectionError> {
    arguments::length("gt_labels", labels.dims()[0], boxes.dims()[0], "row of `gt_boxes`")?;
    arguments::device("gt_labels", &labels.device(), "gt_boxes", &boxes.device())?;
    let values = host::read_ints(labels).await?;
    all(
        image,
        "gt_labels",
        &values,
        "above 0, which is the background",
        |label| label > BACKGROUND.into(),
    )?;
    let largest = largest_kept(labels);
    let expected = format!("at most {largest}, the largest label that this device keeps");
    all(image, "gt_labels", &values, &expected, |label| label <= largest)
}

/// Checks that all of an image's integers fit.
pub fn all(
    image: usize,
    argument: &'static str,
    values: &[i128],
    expected: &str,
    fits: impl Fn(i128) -> bool,
) -> Result<(), DetectionError> {
    match values.iter().position(|&value| !fits(value)) {
        None => Ok(()),
        Some(row) => Err(DetectionError::Target {
            argument,
            image,
            row,
            value: values[row].to_string(),
            expected: expected.to_string(),
        }),
    }
}
