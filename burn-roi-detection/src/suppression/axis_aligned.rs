//! The suppression of boxes `[x1, y1, x2, y2]` and `[x1, y1, x2, y2, z1, z2]`.

use std::ops::{Add, Div, Mul, Sub};

use burn::tensor::DType;
use pulp::Arch;

use super::{KeptBoxes, suppressed_greedily};
use crate::boxes::ends;
use crate::host;

/// NMS within each class, of the boxes that `candidates` names. Gives the indices of the first `limit` kept boxes, by
/// decreasing score; of equal scores the lower index comes first.
///
/// The IoU is computed in f64 for boxes of f64, and in f32 for those of any other `dtype`.
pub(crate) fn greedy_nms<const COLUMNS: usize, C: Ord + Sync>(
    candidates: Vec<usize>,
    boxes: &[[f64; COLUMNS]],
    dtype: DType,
    scores: &[f64],
    class_of: impl Fn(usize) -> C + Sync,
    iou_threshold: f64,
    limit: usize,
) -> Vec<usize> {
    let by_score = host::top_n(scores, candidates, usize::MAX);
    match dtype {
        DType::F64 => kept::<f64, COLUMNS, C>(&by_score, boxes, class_of, iou_threshold, limit),
        _ => kept::<f32, COLUMNS, C>(&by_score, boxes, class_of, iou_threshold, limit),
    }
}

fn kept<T: Real, const COLUMNS: usize, C: Ord + Sync>(
    by_score: &[usize],
    boxes: &[[f64; COLUMNS]],
    class_of: impl Fn(usize) -> C + Sync,
    iou_threshold: f64,
    limit: usize,
) -> Vec<usize> {
    let iou_threshold = T::largest_not_above(iou_threshold);
    let candidate = |index: usize| Candidate::new(boxes[index].map(T::rounded), iou_threshold);
    suppressed_greedily::<Blocks<T, COLUMNS>, C>(by_score, candidate, class_of, limit)
}

/// A box, its area or volume, and the IoU above which a kept box suppresses it.
struct Candidate<T, const COLUMNS: usize> {
    corners: [T; COLUMNS],
    measure: T,
    iou_threshold: T,
}

impl<T: Real, const COLUMNS: usize> Candidate<T, COLUMNS> {
    fn new(corners: [T; COLUMNS], iou_threshold: T) -> Self {
        let side = |axis| {
            let [start, end] = ends(axis);
            corners[end] - corners[start]
        };
        Self {
            corners,
            measure: product::<T, COLUMNS>(side),
            iou_threshold,
        }
    }
}

/// The product of the lengths along all axes of a box that has this many columns.
#[inline(always)]
fn product<T: Real, const COLUMNS: usize>(length: impl Fn(usize) -> T) -> T {
    let product = length(0) * length(1);
    match COLUMNS {
        4 => product,
        _ => product * length(2),
    }
}

/// A float that the IoU is computed in.
pub(super) trait Real:
    Copy + Sync + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
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

/// Kept boxes, [`LANES`] in a block.
struct Blocks<T, const COLUMNS: usize> {
    arch: Arch,
    blocks: Vec<Block<T, COLUMNS>>,
    len: usize,
}

impl<T, const COLUMNS: usize> Default for Blocks<T, COLUMNS> {
    fn default() -> Self {
        Self {
            arch: Arch::new(),
            blocks: Vec::new(),
            len: 0,
        }
    }
}

impl<T: Real, const COLUMNS: usize> KeptBoxes for Blocks<T, COLUMNS> {
    type Candidate = Candidate<T, COLUMNS>;

    fn len(&self) -> usize {
        self.len
    }

    /// The boxes before `first` in its block are compared again, with the same result: they suppress nothing.
    fn suppress(&self, candidate: &Candidate<T, COLUMNS>, first: usize) -> bool {
        let rest = &self.blocks[first / LANES..];
        // With the widest instructions that the processor has.
        self.arch
            .dispatch(|| rest.iter().any(|block| block.suppress(candidate)))
    }

    fn push(&mut self, candidate: Candidate<T, COLUMNS>) {
        let lane = self.len % LANES;
        if lane == 0 {
            self.blocks.push(Block::EMPTY);
        }
        let block = self.blocks.last_mut().expect("the first lane of a block adds it");
        for (lanes, corner) in block.corners.iter_mut().zip(candidate.corners) {
            lanes[lane] = corner;
        }
        block.measure[lane] = candidate.measure;
        self.len += 1;
    }
}

/// The number of boxes in a [`Block`]. The widest vector registers hold 16 f32.
const LANES: usize = 16;

/// The corners and the areas or volumes of some boxes. Each coordinate has an array of its own, so that the compiler
/// vectorizes the loop over the boxes.
struct Block<T, const COLUMNS: usize> {
    corners: [[T; LANES]; COLUMNS],
    measure: [T; LANES],
}

impl<T: Real, const COLUMNS: usize> Block<T, COLUMNS> {
    /// Unused lanes are NaN, and so is their IoU with any box, which is above no threshold.
    const EMPTY: Self = Self {
        corners: [[T::NAN; LANES]; COLUMNS],
        measure: [T::NAN; LANES],
    };

    /// Whether the IoU of `candidate` with one of the boxes is above its threshold. The order of operations is
    /// torchvision's.
    #[inline(always)]
    fn suppress(&self, candidate: &Candidate<T, COLUMNS>) -> bool {
        let corners = candidate.corners;
        let mut suppress = false;
        for lane in 0..LANES {
            let overlap = |axis| {
                let [start, end] = ends(axis);
                let length =
                    smaller(self.corners[end][lane], corners[end]) - larger(self.corners[start][lane], corners[start]);
                larger(length, T::ZERO)
            };
            let intersection = product::<T, COLUMNS>(overlap);
            let iou = intersection / (self.measure[lane] + candidate.measure - intersection);
            suppress |= iou > candidate.iou_threshold;
        }
        suppress
    }
}

/// The larger of two numbers in one instruction, which `f32::max` is not. Where one is NaN the result does not matter:
/// the measure of its box is NaN too, and with it the IoU.
#[inline(always)]
fn larger<T: PartialOrd>(left: T, right: T) -> T {
    if left > right { left } else { right }
}

/// The smaller of two numbers, as [`larger`].
#[inline(always)]
fn smaller<T: PartialOrd>(left: T, right: T) -> T {
    if left < right { left } else { right }
}
