//! The greedy suppression of boxes, on the host. NMS in every form of this crate is this.

use std::collections::BTreeMap;
use std::ops::{Add, Div, Mul, Sub};

use burn::tensor::DType;

use super::host;

/// NMS within each class, of the boxes that `candidates` names. Gives the indices of the first `limit` kept boxes, by
/// decreasing score; of equal scores the lower index comes first.
///
/// The IoU is computed in f64 for boxes of f64, and in f32 for those of any other `dtype`.
///
/// Each candidate is compared with the kept boxes of its class only, so the memory is linear, and nothing is computed
/// beyond `limit`.
pub(crate) fn greedy_nms<C: Ord>(
    candidates: Vec<usize>,
    boxes: &[[f64; 4]],
    dtype: DType,
    scores: &[f64],
    class_of: impl Fn(usize) -> C,
    iou_threshold: f64,
    limit: usize,
) -> Vec<usize> {
    let by_score = host::top_n(scores, candidates, usize::MAX);
    match dtype {
        DType::F64 => kept::<f64, C>(by_score, boxes, class_of, iou_threshold, limit),
        _ => kept::<f32, C>(by_score, boxes, class_of, iou_threshold, limit),
    }
}

fn kept<T: Real, C: Ord>(
    by_score: Vec<usize>,
    boxes: &[[f64; 4]],
    class_of: impl Fn(usize) -> C,
    iou_threshold: f64,
    limit: usize,
) -> Vec<usize> {
    let iou_threshold = T::largest_not_above(iou_threshold);
    let mut kept_by_class = BTreeMap::<C, KeptBoxes<T>>::new();
    by_score
        .into_iter()
        .filter(|&index| {
            let kept = kept_by_class.entry(class_of(index)).or_default();
            kept.insert_unless_suppressed(boxes[index].map(T::rounded), iou_threshold)
        })
        .take(limit)
        .collect()
}

/// A float that the IoU is computed in.
trait Real: Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> {
    const ZERO: Self;
    const NAN: Self;

    /// The nearest value.
    fn rounded(value: f64) -> Self;

    /// The largest value that is not above `threshold`: a value is above both of them or above neither.
    fn largest_not_above(threshold: f64) -> Self;
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const NAN: Self = Self::NAN;

    fn rounded(value: f64) -> Self {
        value as Self
    }

    fn largest_not_above(threshold: f64) -> Self {
        let nearest = threshold as Self;
        if f64::from(nearest) > threshold {
            nearest.next_down()
        } else {
            nearest
        }
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const NAN: Self = Self::NAN;

    fn rounded(value: f64) -> Self {
        value
    }

    fn largest_not_above(threshold: f64) -> Self {
        threshold
    }
}

/// The boxes that NMS has kept so far, by decreasing score.
struct KeptBoxes<T> {
    blocks: Vec<Block<T>>,
    len: usize,
}

impl<T> Default for KeptBoxes<T> {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            len: 0,
        }
    }
}

impl<T: Real> KeptBoxes<T> {
    fn insert_unless_suppressed(&mut self, [x1, y1, x2, y2]: [T; 4], iou_threshold: T) -> bool {
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
struct Block<T>([[T; LANES]; 5]);

impl<T: Real> Block<T> {
    /// Unused lanes are NaN, and so is their IoU with any box, which is above no threshold.
    const EMPTY: Self = Self([[T::NAN; LANES]; 5]);

    /// Whether the IoU of `candidate` with one of the boxes is above `iou_threshold`. The order of operations is
    /// torchvision's.
    fn suppresses(&self, candidate: [T; 5], iou_threshold: T) -> bool {
        let Self([x1, y1, x2, y2, area]) = self;
        let mut suppressed = false;
        for lane in 0..LANES {
            let width = smaller(x2[lane], candidate[2]) - larger(x1[lane], candidate[0]);
            let height = smaller(y2[lane], candidate[3]) - larger(y1[lane], candidate[1]);
            let intersection = larger(width, T::ZERO) * larger(height, T::ZERO);
            let iou = intersection / (area[lane] + candidate[4] - intersection);
            suppressed |= iou > iou_threshold;
        }
        suppressed
    }
}

/// The larger of two numbers in one instruction, which `f32::max` is not. Where one is NaN the result does not matter:
/// the area of its box is NaN too, and with it the IoU.
fn larger<T: PartialOrd>(left: T, right: T) -> T {
    if left > right { left } else { right }
}

/// The smaller of two numbers, as [`larger`].
fn smaller<T: PartialOrd>(left: T, right: T) -> T {
    if left < right { left } else { right }
}
