//! Compares the detections of a whole run with the recorded ones.

use std::fmt;

use super::Recording;
use super::boxes::{difference, largest_corner_difference};
use crate::error::Error;
use crate::found::Found;
use burn_roi_detection::RunLengths;

const LARGEST_SCORE_DIFFERENCE: f64 = 1e-3;
/// In pixels of the picture.
const LARGEST_BOX_DIFFERENCE: f64 = 0.1;
const LEAST_MASK_OVERLAP: f64 = 0.99;

/// How many detections of two runs match, and how far apart the matching ones are.
pub struct Comparison {
    found: usize,
    recorded: usize,
    matched: usize,
    largest_score_difference: f64,
    largest_box_difference: f64,
    least_mask_overlap: f64,
}

impl Comparison {
    /// Matches each recorded detection with the nearest one of its class that is left.
    pub fn new(found: &[Found], recorded: &[Found]) -> Self {
        let mut comparison = Self {
            found: found.len(),
            recorded: recorded.len(),
            matched: 0,
            largest_score_difference: 0.0,
            largest_box_difference: 0.0,
            least_mask_overlap: 1.0,
        };
        let mut left: Vec<&Found> = found.iter().collect();
        for other in recorded {
            let nearest = left
                .iter()
                .enumerate()
                .filter(|(_, own)| own.class == other.class)
                .map(|(index, own)| (index, largest_corner_difference(&own.corners, &other.corners)))
                .min_by(|(_, first), (_, second)| first.total_cmp(second));
            if let Some((index, difference)) = nearest
                && difference <= LARGEST_BOX_DIFFERENCE
            {
                comparison.add(left.remove(index), other, difference);
            }
        }
        comparison
    }

    fn add(&mut self, own: &Found, other: &Found, box_difference: f64) {
        let score_difference = difference(own.score, other.score);
        // Two empty masks are the same, and have an IoU of 0.
        let is_same = own.mask == other.mask;
        let overlap = if is_same {
            1.0
        } else {
            own.mask.try_iou(&other.mask, false).unwrap_or(0.0)
        };
        self.matched += 1;
        self.largest_score_difference = self.largest_score_difference.max(score_difference);
        self.largest_box_difference = self.largest_box_difference.max(box_difference);
        self.least_mask_overlap = self.least_mask_overlap.min(overlap);
    }

    /// Whether every detection matches, with nearly the same score and mask.
    pub fn is_same(&self) -> bool {
        [self.found, self.recorded] == [self.matched; 2]
            && self.largest_score_difference <= LARGEST_SCORE_DIFFERENCE
            && self.least_mask_overlap >= LEAST_MASK_OVERLAP
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "detections: {} found, {} recorded, {} match; largest difference of a score {:.1e}, of a box {:.4} pixels; \
             least overlap (IoU) of masks {:.4}",
            self.found,
            self.recorded,
            self.matched,
            self.largest_score_difference,
            self.largest_box_difference,
            self.least_mask_overlap,
        )
    }
}

/// The recorded detections.
pub fn read(recording: &Recording) -> Result<Vec<Found>, Error> {
    let boxes = recording.boxes("detections.boxes")?;
    let scores = &recording.tensor("detections.scores")?.values;
    let labels = &recording.tensor("detections.labels")?.values;
    let masks = recording.tensor("detections.masks")?;
    let [count, height, width] = masks.shape[..] else {
        return Err(recording.wrong(format!("detections.masks are {:?}", masks.shape)));
    };
    if [scores.len(), labels.len(), count] != [boxes.len(); 3] {
        return Err(recording.wrong("its detections are not as many in each tensor".to_string()));
    }
    let detections = boxes.into_iter().enumerate().map(|(row, corners)| {
        let pixels = &masks.values[row * height * width..][..height * width];
        Found {
            class: labels[row] as usize,
            score: scores[row],
            corners,
            mask: mask(pixels, [height, width]),
        }
    });
    Ok(detections.collect())
}

/// The pixels whose probability is above a half.
fn mask(pixels: &[f32], size: [usize; 2]) -> RunLengths {
    let pixels: Vec<bool> = pixels.iter().map(|&probability| probability > 0.5).collect();
    RunLengths::from_pixels(&pixels, size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(left: usize) -> RunLengths {
        let is_set = |pixel: usize| (4..24).contains(&(pixel / 80)) && (left..left + 10).contains(&(pixel % 80));
        RunLengths::from_pixels(&(0..40 * 80).map(is_set).collect::<Vec<_>>(), [40, 80])
    }

    /// Two detections whose masks fill the left 10 columns of their boxes.
    fn detections() -> Vec<Found> {
        let detection = |class, score, left: usize| Found {
            class,
            score,
            corners: [left as f32, 4.0, left as f32 + 20.0, 24.0],
            mask: columns(left),
        };
        vec![detection(1, 0.9, 8), detection(2, 0.6, 40)]
    }

    fn is_same(change: impl Fn(&mut Vec<Found>)) -> bool {
        let recorded = detections();
        let mut found = recorded.clone();
        change(&mut found);
        Comparison::new(&found, &recorded).is_same()
    }

    #[test]
    fn order_and_rounding_do_not_matter() {
        assert!(is_same(|found| found.reverse()));
        assert!(is_same(|found| found[0].score += 1e-5));
        assert!(is_same(|found| found[1].corners[2] += 0.01));
        assert!(Comparison::new(&[], &[]).is_same());
    }

    #[test]
    fn every_detection_must_match() {
        assert!(!is_same(|found| found.truncate(1)));
        assert!(!is_same(|found| found.push(found[0].clone())));
        assert!(!is_same(|found| found[0].class = 2));
        assert!(!is_same(|found| found[1].corners[2] += 1.0));
        assert!(!is_same(|found| found[1].corners[0] = f32::NAN));
    }

    #[test]
    fn scores_and_masks_must_be_near() {
        assert!(!is_same(|found| found[0].score -= 0.01));
        assert!(!is_same(|found| found[0].score = f32::NAN));
        assert!(!is_same(|found| found[1].mask = found[0].mask.clone()));
    }
}
