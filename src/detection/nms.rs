//! Non-maximum suppression (NMS).

use std::collections::BTreeMap;

use burn::tensor::{Int, Tensor};

use super::{arguments, host};
use crate::error::{RoiError, or_panic};
use crate::waiting::wait;

/// Non-maximum suppression: keeps the boxes whose intersection over union (IoU) with every kept box of a higher
/// score is at most `iou_threshold`. The semantics are those of `torchvision.ops.nms`.
///
/// - `boxes`: `[K, 4]`, each `[x1, y1, x2, y2]`, in any unit and of any float dtype.
/// - `scores`: `[K]`, of any float dtype.
/// - `iou_threshold`: a box is suppressed where the IoU, as [`box_iou`](super::box_iou) computes it, is above this.
/// - Returns the indices of the kept boxes, by decreasing score, in the device's integer dtype. Of equal scores the
///   lower index comes first.
///
/// Boxes and scores are read back to the host, which computes the IoU in f32. A box whose score is NaN is not kept. A
/// box with a NaN coordinate neither suppresses a box nor is suppressed, as in torchvision.
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
/// Where [`try_nms`] returns an error, with its text.
pub fn nms(boxes: Tensor<2>, scores: Tensor<1>, iou_threshold: f64) -> Tensor<1, Int> {
    or_panic(try_nms(boxes, scores, iou_threshold))
}

/// [`nms`] that returns an error instead of panicking.
///
/// # Errors
///
/// - [`RoiError::Shape`]: `boxes` is not `[K, 4]`.
/// - [`RoiError::Length`]: `scores` has not one element for each box.
/// - [`RoiError::Device`]: `scores` is on another device than `boxes`.
/// - [`RoiError::Option`]: `iou_threshold` is NaN.
pub fn try_nms(boxes: Tensor<2>, scores: Tensor<1>, iou_threshold: f64) -> Result<Tensor<1, Int>, RoiError> {
    wait("try_nms", "nms_async", nms_async(boxes, scores, iou_threshold))
}

/// [`nms`] that awaits the device.
/// A WebGPU device in a browser can be read in this form only.
///
/// # Errors
///
/// Those of [`try_nms`], except [`RoiError::SynchronousRead`].
pub async fn nms_async(boxes: Tensor<2>, scores: Tensor<1>, iou_threshold: f64) -> Result<Tensor<1, Int>, RoiError> {
    let count = check(&boxes, &scores, iou_threshold)?;
    let kept = greedy_nms(
        (0..count).collect(),
        &host::read_boxes(&boxes).await?,
        &host::read_floats(&scores).await?,
        |_| 0,
        iou_threshold,
        usize::MAX,
    );
    Ok(host::indices(&kept, &boxes.device()))
}

/// [`nms`] within each class: boxes of different classes do not suppress each other. The semantics are those of
/// `torchvision.ops.batched_nms`.
///
/// - `boxes`, `scores`, `iou_threshold`: as in [`nms`].
/// - `classes`: `[K]`, any integers, for example the boxes' labels, pyramid levels or images.
/// - Returns the indices of the kept boxes of all classes, by decreasing score, in the device's integer dtype. Of
///   equal scores the lower index comes first.
///
/// The IoU is computed from the coordinates as they are. torchvision does the same for more than 1,000 boxes on a
/// CPU, but leaves the order of equal scores open. For fewer boxes it adds an offset to the coordinates of each class;
/// the rounding of that sum can change which boxes are kept where an IoU is close to the threshold.
///
/// Boxes, scores and classes are read back to the host. NaN is treated as in [`nms`].
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
/// Where [`try_batched_nms`] returns an error, with its text.
pub fn batched_nms(boxes: Tensor<2>, scores: Tensor<1>, classes: Tensor<1, Int>, iou_threshold: f64) -> Tensor<1, Int> {
    or_panic(try_batched_nms(boxes, scores, classes, iou_threshold))
}

/// [`batched_nms`] that returns an error instead of panicking.
///
/// # Errors
///
/// Those of [`try_nms`], and [`RoiError::Length`] and [`RoiError::Device`] for `classes` as for `scores`.
pub fn try_batched_nms(
    boxes: Tensor<2>,
    scores: Tensor<1>,
    classes: Tensor<1, Int>,
    iou_threshold: f64,
) -> Result<Tensor<1, Int>, RoiError> {
    wait(
        "try_batched_nms",
        "batched_nms_async",
        batched_nms_async(boxes, scores, classes, iou_threshold),
    )
}

/// [`batched_nms`] that awaits the device.
/// A WebGPU device in a browser can be read in this form only.
///
/// # Errors
///
/// Those of [`try_batched_nms`], except [`RoiError::SynchronousRead`].
pub async fn batched_nms_async(
    boxes: Tensor<2>,
    scores: Tensor<1>,
    classes: Tensor<1, Int>,
    iou_threshold: f64,
) -> Result<Tensor<1, Int>, RoiError> {
    let count = check(&boxes, &scores, iou_threshold)?;
    arguments::length("classes", classes.dims()[0], count, "row of `boxes`")?;
    arguments::device("classes", &classes.device(), "boxes", &boxes.device())?;
    let classes = host::read_ints(&classes).await?;
    let kept = greedy_nms(
        (0..count).collect(),
        &host::read_boxes(&boxes).await?,
        &host::read_floats(&scores).await?,
        |index| classes[index],
        iou_threshold,
        usize::MAX,
    );
    Ok(host::indices(&kept, &boxes.device()))
}

fn check(boxes: &Tensor<2>, scores: &Tensor<1>, iou_threshold: f64) -> Result<usize, RoiError> {
    let count = arguments::boxes("boxes", boxes)?;
    arguments::length("scores", scores.dims()[0], count, "row of `boxes`")?;
    arguments::device("scores", &scores.device(), "boxes", &boxes.device())?;
    arguments::not_nan("iou_threshold", iou_threshold)?;
    Ok(count)
}

/// NMS within each class, of the boxes that `candidates` names. Gives the indices of the first `limit` kept boxes, by
/// decreasing score; of equal scores the lower index comes first.
///
/// Each candidate is compared with the kept boxes of its class only, so the memory is linear, and nothing is computed
/// beyond `limit`.
pub(crate) fn greedy_nms(
    candidates: Vec<usize>,
    boxes: &[[f64; 4]],
    scores: &[f64],
    class_of: impl Fn(usize) -> i64,
    iou_threshold: f64,
    limit: usize,
) -> Vec<usize> {
    let iou_threshold = largest_not_above(iou_threshold);
    let mut kept_by_class = BTreeMap::<i64, KeptBoxes>::new();
    host::top_n(scores, candidates, usize::MAX)
        .into_iter()
        .filter(|&index| {
            let kept = kept_by_class.entry(class_of(index)).or_default();
            kept.insert_unless_suppressed(boxes[index], iou_threshold)
        })
        .take(limit)
        .collect()
}

/// The largest f32 that is not above `threshold`: an f32 is above both of them or above neither.
fn largest_not_above(threshold: f64) -> f32 {
    let nearest = threshold as f32;
    if f64::from(nearest) > threshold {
        nearest.next_down()
    } else {
        nearest
    }
}

/// The boxes that NMS has kept so far, by decreasing score.
#[derive(Default)]
struct KeptBoxes {
    blocks: Vec<Block>,
    len: usize,
}

impl KeptBoxes {
    fn insert_unless_suppressed(&mut self, coordinates: [f64; 4], iou_threshold: f32) -> bool {
        let [x1, y1, x2, y2] = coordinates.map(|coordinate| coordinate as f32);
        let area = (x2 - x1) * (y2 - y1);
        let candidate = [x1, y1, x2, y2, area];
        if self
            .blocks
            .iter()
            .any(|block| block.suppresses(candidate, iou_threshold))
        {
            return false;
        }
        let lane = self.len % LANES;
        if lane == 0 {
            self.blocks.push(Block::EMPTY);
        }
        let block = self.blocks.last_mut().expect("the first lane of a block adds it");
        for (lanes, value) in block.0.iter_mut().zip(candidate) {
            lanes[lane] = value;
        }
        self.len += 1;
        true
    }
}

/// The number of boxes in a [`Block`]. The widest vector registers hold 16 f32.
const LANES: usize = 16;

/// x1, y1, x2, y2 and the area of some boxes. Each has an array of its own, so that the compiler vectorizes the loop
/// over the boxes.
struct Block([[f32; LANES]; 5]);

impl Block {
    /// Unused lanes are NaN, and so is their IoU with any box, which is above no threshold.
    const EMPTY: Self = Self([[f32::NAN; LANES]; 5]);

    /// Whether the IoU of `candidate` with one of the boxes is above `iou_threshold`. The order of operations is
    /// torchvision's.
    fn suppresses(&self, candidate: [f32; 5], iou_threshold: f32) -> bool {
        let Self([x1, y1, x2, y2, area]) = self;
        let mut suppressed = false;
        for lane in 0..LANES {
            let width = smaller(x2[lane], candidate[2]) - larger(x1[lane], candidate[0]);
            let height = smaller(y2[lane], candidate[3]) - larger(y1[lane], candidate[1]);
            let intersection = width.max(0.0) * height.max(0.0);
            let iou = intersection / (area[lane] + candidate[4] - intersection);
            suppressed |= iou > iou_threshold;
        }
        suppressed
    }
}

/// The larger of two numbers in one instruction, which `f32::max` is not. Where one is NaN the result does not matter:
/// the area of its box is NaN too, and with it the IoU.
fn larger(left: f32, right: f32) -> f32 {
    if left > right { left } else { right }
}

/// The smaller of two numbers, as [`larger`].
fn smaller(left: f32, right: f32) -> f32 {
    if left < right { left } else { right }
}
