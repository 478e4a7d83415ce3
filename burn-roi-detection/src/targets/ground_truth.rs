//! [`GroundTruth`]: the objects of each image, and checks of values that come with them.

use std::fmt::Debug;

use burn::tensor::kind::Basic;
use burn::tensor::{Int, Tensor};

use crate::error::DetectionError;
use crate::integers::largest_kept;
use crate::post_processing::BACKGROUND;
use crate::{arguments, host};

/// The objects of each image: the arguments `gt_boxes` and `gt_labels`.
pub struct GroundTruth<'a> {
    /// For each image `[G, 4]`.
    pub boxes: &'a [Tensor<2>],
    /// For each image `[G]`.
    pub labels: &'a [Tensor<1, Int>],
}

impl<'a> GroundTruth<'a> {
    /// Checks the objects of each image and its proposals.
    pub async fn try_new(
        boxes: &'a [Tensor<2>],
        labels: &'a [Tensor<1, Int>],
        proposals: &[Tensor<2>],
    ) -> Result<Self, DetectionError> {
        let images = proposals.len();
        arguments::length("gt_boxes", boxes.len(), images, "image of `proposals`")?;
        arguments::length("gt_labels", labels.len(), images, "image of `proposals`")?;
        for (image, proposals) in proposals.iter().enumerate() {
            arguments::boxes("proposals", proposals)?;
            check_boxes(image, &boxes[image], "proposals", proposals).await?;
            check_labels(image, &labels[image], &boxes[image]).await?;
        }
        Ok(Self { boxes, labels })
    }
}

/// Checks the ground-truth boxes of an image, and that they go with `like`, its proposals or anchors. The boxes are
/// read back to the host.
pub async fn check_boxes(
    image: usize,
    boxes: &Tensor<2>,
    like: &'static str,
    of_image: &Tensor<2>,
) -> Result<(), DetectionError> {
    arguments::boxes("gt_boxes", boxes)?;
    arguments::device_and_dtype("gt_boxes", boxes, like, of_image)?;
    // torchvision's detectors refuse such boxes too: their box deltas are infinite or NaN.
    let fits = |corners: &[f64; 4]| is_finite(corners) && corners[0] < corners[2] && corners[1] < corners[3];
    let expected = "finite, with x1 below x2 and y1 below y2";
    all_fit(image, "gt_boxes", &host::read_boxes(boxes).await?, expected, fits)
}

/// Checks the label of each ground-truth box of an image. The labels are read back to the host.
async fn check_labels(image: usize, labels: &Tensor<1, Int>, boxes: &Tensor<2>) -> Result<(), DetectionError> {
    arguments::length("gt_labels", labels.dims()[0], boxes.dims()[0], "row of `gt_boxes`")?;
    arguments::device("gt_labels", labels, "gt_boxes", boxes)?;
    let values = host::read_ints(labels).await?;
    let expected = "above 0, which is the background";
    all_fit(image, "gt_labels", &values, expected, |&label| {
        label > BACKGROUND.into()
    })?;
    let largest = largest_kept(labels);
    let expected = format!("at most {largest}, the largest label that this device keeps");
    all_fit(image, "gt_labels", &values, &expected, |&label| label <= largest)
}

/// Reads boxes that have to be finite.
pub async fn finite_boxes(
    image: usize,
    argument: &'static str,
    boxes: &Tensor<2>,
) -> Result<Vec<[f64; 4]>, DetectionError> {
    let boxes = host::read_boxes(boxes).await?;
    all_fit(image, argument, &boxes, "finite", is_finite)?;
    Ok(boxes)
}

fn is_finite(corners: &[f64; 4]) -> bool {
    corners.iter().all(|coordinate| coordinate.is_finite())
}

/// Reads the row of each proposal's object among `objects`, a tensor of an image with a row for each object. An error
/// calls the objects `name`.
pub async fn matched_rows<const D: usize, K: Basic>(
    image: usize,
    argument: &'static str,
    matched_idxs: &Tensor<1, Int>,
    objects: &Tensor<D, K>,
    name: &str,
) -> Result<Vec<i128>, DetectionError> {
    let count = objects.dims()[0];
    let expected = format!("at least 0 and below the {count} {name} of this image");
    let rows = host::read_ints(matched_idxs).await?;
    all_fit(image, argument, &rows, &expected, |row| {
        (0..count as i128).contains(row)
    })?;
    Ok(rows)
}

/// Checks that all of an image's values fit.
pub fn all_fit<T: Debug>(
    image: usize,
    argument: &'static str,
    values: &[T],
    expected: &str,
    fits: impl Fn(&T) -> bool,
) -> Result<(), DetectionError> {
    match values.iter().position(|value| !fits(value)) {
        None => Ok(()),
        Some(row) => {
            let value = format!("{:?}", values[row]);
            Err(arguments::target(argument, image, row, value, expected))
        }
    }
}
