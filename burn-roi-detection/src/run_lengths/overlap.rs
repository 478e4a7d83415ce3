//! The union of masks, and how much two masks overlap.

use super::joined::Joined;
use super::{RunLengths, or_panic};
use crate::error::DetectionError;

impl RunLengths {
    /// The pixels that are set in either of two masks of an image.
    ///
    /// # Panics
    ///
    /// If [`try_union`](Self::try_union) returns an error, with its text.
    pub fn union(&self, other: &Self) -> Self {
        or_panic(self.try_union(other))
    }

    /// Fallible form of [`union`](Self::union).
    ///
    /// # Errors
    ///
    /// `DetectionError::RunLengths`: the masks have different sizes.
    pub fn try_union(&self, other: &Self) -> Result<Self, DetectionError> {
        self.check_size(other)?;
        let mut joined = Joined::default();
        let (mut runs, mut other_runs) = (Runs::new(&self.counts), Runs::new(&other.counts));
        loop {
            let length = runs.left.min(other_runs.left);
            joined.push(runs.is_set || other_runs.is_set, length);
            let (more, other_more) = (runs.advance(length), other_runs.advance(length));
            if !more && !other_more {
                let (size, counts) = (self.size, joined.finish());
                return Ok(Self { size, counts });
            }
        }
    }

    /// The IoU with a ground-truth mask of the same image: the number of pixels set in both, divided by the number set
    /// in either. 0 if no pixel is set in both.
    ///
    /// - `is_crowd`: whether the ground truth is a crowd. If so, the divisor is the number of pixels of this mask, as
    ///   COCO does.
    ///
    /// # Panics
    ///
    /// If [`try_iou`](Self::try_iou) returns an error, with its text.
    pub fn iou(&self, truth: &Self, is_crowd: bool) -> f64 {
        or_panic(self.try_iou(truth, is_crowd))
    }

    /// Fallible form of [`iou`](Self::iou).
    ///
    /// # Errors
    ///
    /// `DetectionError::RunLengths`: the masks have different sizes.
    pub fn try_iou(&self, truth: &Self, is_crowd: bool) -> Result<f64, DetectionError> {
        self.check_size(truth)?;
        let both = set_pixels_in_both(self, truth);
        Ok(iou_of_areas(both, self.area(), truth.area(), is_crowd))
    }

    fn check_size(&self, other: &Self) -> Result<(), DetectionError> {
        if self.size == other.size {
            return Ok(());
        }
        let value = format!("size {:?}", other.size);
        let expected = format!("size {:?}, as the mask it is compared with", self.size);
        Err(DetectionError::RunLengths { value, expected })
    }
}

/// The IoU of a mask with a truth, from the number of pixels in both and their areas. If the truth is a crowd, the
/// divisor is the area of the mask.
pub fn iou_of_areas(both: u32, area: u32, truth: u32, is_crowd: bool) -> f64 {
    if both == 0 {
        return 0.0;
    }
    let divisor = if is_crowd { area } else { area + (truth - both) };
    f64::from(both) / f64::from(divisor)
}

/// The number of pixels that are set in both masks, which have the same size.
pub fn set_pixels_in_both(mask: &RunLengths, other: &RunLengths) -> u32 {
    let (mut runs, mut other_runs) = (mask.set_runs(), other.set_runs());
    let (mut run, mut other_run) = (runs.next(), other_runs.next());
    let mut pixels = 0;
    while let (Some((start, end)), Some((other_start, other_end))) = (run, other_run) {
        pixels += end.min(other_end).saturating_sub(start.max(other_start));
        if end < other_end {
            run = runs.next();
        } else {
            other_run = other_runs.next();
        }
    }
    pixels
}

/// A walk over all runs of a mask.
struct Runs<'a> {
    later: std::slice::Iter<'a, u32>,
    left: u32,
    is_set: bool,
}

impl<'a> Runs<'a> {
    fn new(counts: &'a [u32]) -> Self {
        let mut later = counts.iter();
        let left = later.next().copied().unwrap_or(0);
        let is_set = false;
        Self { later, left, is_set }
    }

    /// Goes on by this number of pixels, which is at most the rest of the run. Returns false at the end.
    fn advance(&mut self, length: u32) -> bool {
        self.left -= length;
        if self.left == 0
            && let Some(&next) = self.later.next()
        {
            self.left = next;
            self.is_set = !self.is_set;
        }
        self.left > 0
    }
}
