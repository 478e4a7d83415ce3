//! Suppression of boxes that overlap one of a higher score.

use std::collections::BTreeMap;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_vision::{Nms, NmsOptions};

use super::{arguments, host};
use crate::error::{RoiError, or_panic};

/// Keeps the boxes that overlap no box of a higher score by more than `iou_threshold`: `[K, 4]` and `[K]` to
/// the indices of those, by decreasing score; torchvision's `nms`.
///
/// - `boxes`: `[x1, y1, x2, y2]`. `scores`: one for each.
/// - `iou_threshold`: a box goes whose overlap, as [`box_iou`](super::box_iou), is above it.
/// - Returns indices of the device's integer dtype; of boxes with one score the first comes first.
///
/// Reads boxes and scores back and decides on the host, in f32. A score that is NaN is not kept. A box with a
/// coordinate that is NaN overlaps nothing, as in torchvision.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::detection::nms;
///
/// let device = Device::default();
/// let boxes = Tensor::<2>::from_floats(
///     [[0.0, 0.0, 10.0, 10.0], [50.0, 0.0, 60.0, 10.0], [0.0, 0.0, 10.0, 9.0]],
///     &device,
/// );
/// let scores = Tensor::<1>::from_floats([0.6, 0.7, 0.9], &device);
/// let kept = nms(boxes, scores, 0.5);
/// assert_eq!(kept.try_into_vec_as::<i32>().unwrap(), [2, 1]);
/// ```
///
/// # Panics
///
/// Where [`try_nms`] gives an error, with its text.
pub fn nms(boxes: Tensor<2>, scores: Tensor<1>, iou_threshold: f64) -> Tensor<1, Int> {
    or_panic(try_nms(boxes, scores, iou_threshold))
}

/// [`nms`] for arguments that may be wrong.
///
/// # Errors
///
/// - [`RoiError::Shape`], [`RoiError::Length`], [`RoiError::Device`]: `boxes` is not `[K, 4]`, or `scores`
///   does not match it.
/// - [`RoiError::Option`]: the threshold is NaN.
pub fn try_nms(boxes: Tensor<2>, scores: Tensor<1>, iou_threshold: f64) -> Result<Tensor<1, Int>, RoiError> {
    check(&boxes, &scores, iou_threshold)?;
    let (coordinates, scores) = (host::read_boxes(&boxes), host::read_floats(&scores));
    let order = by_decreasing_score((0..scores.len()).collect(), &scores);
    let kept = without_overlaps(&coordinates, &order, iou_threshold);
    Ok(host::indices(&kept, &boxes.device()))
}

/// [`nms`] within each class: boxes of different classes never suppress each other; torchvision's
/// `batched_nms`.
///
/// - `classes`: any integer for each box: its label, its level, its image.
/// - Returns the indices of the boxes kept, of all classes, by decreasing score; of boxes with one score the
///   first comes first.
///
/// Each class is decided by itself, from the coordinates as they are. torchvision does so above 1,000 boxes
/// on a CPU, where it leaves the order of equal scores open; with fewer it moves each class by an offset, whose
/// rounding can decide an overlap near the threshold otherwise.
///
/// Reads boxes, scores and classes back, as [`nms`] does.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_roi::detection::batched_nms;
///
/// let device = Device::default();
/// let one = [0.0, 0.0, 10.0, 10.0];
/// let boxes = Tensor::<2>::from_floats([one, one, one], &device);
/// let scores = Tensor::<1>::from_floats([0.6, 0.7, 0.9], &device);
/// let classes = Tensor::<1, Int>::from_ints([1, 2, 2], &device);
/// let kept = batched_nms(boxes, scores, classes, 0.5);
/// assert_eq!(kept.try_into_vec_as::<i32>().unwrap(), [2, 0]);
/// ```
///
/// # Panics
///
/// Where [`try_batched_nms`] gives an error, with its text.
pub fn batched_nms(boxes: Tensor<2>, scores: Tensor<1>, classes: Tensor<1, Int>, iou_threshold: f64) -> Tensor<1, Int> {
    or_panic(try_batched_nms(boxes, scores, classes, iou_threshold))
}

/// [`batched_nms`] for arguments that may be wrong.
///
/// # Errors
///
/// As [`try_nms`], also for `classes`.
pub fn try_batched_nms(
    boxes: Tensor<2>,
    scores: Tensor<1>,
    classes: Tensor<1, Int>,
    iou_threshold: f64,
) -> Result<Tensor<1, Int>, RoiError> {
    let count = check(&boxes, &scores, iou_threshold)?;
    arguments::length("classes", classes.dims()[0], count, "row of `boxes`")?;
    arguments::device("classes", &classes.device(), "boxes", &boxes.device())?;
    let kept = suppress_by_class(
        &host::read_boxes(&boxes),
        &host::read_floats(&scores),
        &host::read_ints(&classes),
        iou_threshold,
    );
    Ok(host::indices(&kept, &boxes.device()))
}

/// What [`batched_nms`] keeps, of boxes on the host.
pub(super) fn suppress_by_class(boxes: &[[f64; 4]], scores: &[f64], classes: &[i64], iou_threshold: f64) -> Vec<usize> {
    let mut members = BTreeMap::<i64, Vec<usize>>::new();
    for (index, &class) in classes.iter().enumerate() {
        members.entry(class).or_default().push(index);
    }
    let mut kept: Vec<usize> = members
        .into_values()
        .map(|members| by_decreasing_score(members, scores))
        .flat_map(|order| without_overlaps(boxes, &order, iou_threshold))
        .collect();
    kept.sort_unstable();
    by_decreasing_score(kept, scores)
}

/// Indices, which come ascending, by decreasing score; without those whose score is NaN.
fn by_decreasing_score(mut indices: Vec<usize>, scores: &[f64]) -> Vec<usize> {
    indices.retain(|&index| !scores[index].is_nan());
    indices.sort_by(|&left, &right| {
        scores[right]
            .partial_cmp(&scores[left])
            .expect("scores that are NaN are not sorted")
    });
    indices
}

/// Of the boxes that `order` names, in order, those that overlap none that was kept before.
///
/// burn-vision decides on a host device; its order is that of the ranks it gets for scores, which are
/// whole numbers.
fn without_overlaps(boxes: &[[f64; 4]], order: &[usize], iou_threshold: f64) -> Vec<usize> {
    if order.is_empty() {
        return Vec::new();
    }
    let coordinates: Vec<f32> = order
        .iter()
        .flat_map(|&index| boxes[index].map(|coordinate| coordinate as f32))
        .collect();
    let ranks: Vec<f32> = (0..order.len()).map(|rank| -(rank as f32)).collect();
    let options = NmsOptions {
        iou_threshold: largest_not_above(iou_threshold),
        score_threshold: f32::NEG_INFINITY,
        max_output_boxes: 0,
    };

    let device = Device::flex();
    let coordinates = TensorData::new(coordinates, [order.len(), 4]);
    let ranks = TensorData::new(ranks, [order.len()]);
    let kept = Tensor::<2>::from_data(coordinates, (&device, DType::F32))
        .nms(Tensor::from_data(ranks, (&device, DType::F32)), options);
    host::read_ints(&kept)
        .into_iter()
        .map(|rank| order[rank as usize])
        .collect()
}

/// The largest f32 that is not above a threshold: an f32 is above both or neither.
fn largest_not_above(threshold: f64) -> f32 {
    let nearest = threshold as f32;
    if f64::from(nearest) > threshold {
        nearest.next_down()
    } else {
        nearest
    }
}

fn check(boxes: &Tensor<2>, scores: &Tensor<1>, iou_threshold: f64) -> Result<usize, RoiError> {
    let count = arguments::boxes("boxes", boxes)?;
    arguments::length("scores", scores.dims()[0], count, "row of `boxes`")?;
    arguments::device("scores", &scores.device(), "boxes", &boxes.device())?;
    arguments::threshold("iou_threshold", iou_threshold)?;
    Ok(count)
}
