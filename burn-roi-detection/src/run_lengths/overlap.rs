//! The union of masks, and how much two masks overlap.

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
        let mut runs: Vec<_> = self.set_runs().chain(other.set_runs()).collect();
        // Two lists in order, which a stable sort merges.
        runs.sort();
        let mut changes = Vec::new();
        for (start, end) in runs {
            match changes.last_mut() {
                Some(last) if start <= *last => *last = end.max(*last),
                _ => changes.extend([start, end]),
            }
        }
        Ok(Self::of_changes(&changes, self.size))
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
