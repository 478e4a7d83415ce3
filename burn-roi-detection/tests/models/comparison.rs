//! Compares tensors and detections with recorded ones, and prints how far apart they are.

use burn::tensor::Tensor;
use burn_roi_detection::models::Instances;

use super::recording::Recording;

/// Of a layer's values, relative to the largest.
const TOLERANCE: f64 = 2e-4;
/// Of a proposal's corners, relative to the largest coordinate.
const PROPOSAL_TOLERANCE: f64 = 1e-3;
/// The least share of proposals that match. Two scores that tie within rounding, or an overlap near the NMS threshold,
/// let two runs keep different candidates.
const LEAST_SHARE: f64 = 0.99;

pub struct Comparison<'a> {
    recording: &'a Recording,
}

impl<'a> Comparison<'a> {
    pub fn new(recording: &'a Recording) -> Self {
        Self { recording }
    }

    /// Compares a tensor with the recorded one of this name.
    pub fn tensor<const D: usize>(&self, name: &str, own: Tensor<D>) {
        let recorded = self.recording.tensor(name);
        let model = &self.recording.name;
        assert_eq!(own.dims().to_vec(), recorded.shape, "{model} {name}");
        let own: Vec<f64> = own.into_data().iter::<f64>().step_by(recorded.step).collect();
        let expected: Vec<f64> = recorded.values.iter::<f64>().collect();
        assert_eq!(own.len(), expected.len(), "{model} {name}");
        let scale = expected
            .iter()
            .fold(f64::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
        let differences = own
            .iter()
            .zip(&expected)
            .map(|(own, expected)| (own - expected).abs() / scale);
        let difference = differences.fold(0.0, largest);
        self.print(name, difference);
        assert!(difference <= TOLERANCE, "{model} {name} differs by {difference:e}");
    }

    /// Compares the proposals of an image, in any order.
    pub fn proposals(&self, image: usize, own: Tensor<2>) {
        let name = format!("proposals.{image}");
        let expected = self.recording.values(&name);
        let own: Vec<f64> = own.into_data().iter::<f64>().collect();
        let scale = expected
            .iter()
            .fold(1.0, |largest: f64, value| largest.max(value.abs()));
        let (mut left, expected) = (own.as_chunks::<4>().0.to_vec(), expected.as_chunks::<4>().0);
        let total = left.len().max(expected.len());
        let (mut matched, mut farthest) = (0, 0.0);
        for corners in expected {
            let nearest = left.iter().map(|own| distance(own, corners)).enumerate();
            let nearest = nearest.min_by(|(_, first), (_, second)| first.total_cmp(second));
            if let Some((index, difference)) = nearest
                && difference <= PROPOSAL_TOLERANCE * scale
            {
                left.swap_remove(index);
                matched += 1;
                farthest = largest(farthest, difference / scale);
            }
        }
        self.print(&name, farthest);
        let model = &self.recording.name;
        assert!(
            matched as f64 >= LEAST_SHARE * total as f64,
            "{model} {name}: {matched} of {total} match"
        );
    }

    /// Compares the detections of an image: each recorded one with the nearest of its class.
    pub fn detections(&self, image: usize, own: &Instances) {
        let prefix = format!("detections.{image}");
        let values = |name: &str| self.recording.values(&format!("{prefix}.{name}"));
        let (boxes, scores, labels) = (values("boxes"), values("scores"), values("labels"));
        let model = self.recording.name.clone();
        assert_eq!(own.len(), scores.len(), "{model} {prefix}");
        let masks = self
            .recording
            .has(&format!("{prefix}.counts"))
            .then(|| masks(&values("counts"), own.size));
        let keypoints = self
            .recording
            .has(&format!("{prefix}.keypoints"))
            .then(|| values("keypoints"));
        let keypoint_scores = self.recording.has(&format!("{prefix}.keypoints_scores"));
        let keypoint_scores = keypoint_scores.then(|| values("keypoints_scores"));
        assert_eq!(own.masks.len(), masks.as_ref().map_or(0, Vec::len), "{model} {prefix}");
        let mut taken = vec![false; own.len()];
        let mut found = [0.0; 5];
        for (row, corners) in boxes.as_chunks::<4>().0.iter().enumerate() {
            let candidates = (0..own.len()).filter(|&index| !taken[index] && own.labels[index] as f64 == labels[row]);
            let candidates = candidates.map(|index| (index, distance(&own.boxes[index].map(f64::from), corners)));
            let nearest = candidates.min_by(|(_, first), (_, second)| first.total_cmp(second));
            let (index, difference) = nearest.unwrap_or_else(|| panic!("{model} {prefix}: row {row} is not found"));
            taken[index] = true;
            found[0] = largest(found[0], difference);
            found[1] = largest(found[1], (f64::from(own.scores[index]) - scores[row]).abs());
            if let Some(masks) = &masks {
                found[2] = largest(found[2], disagreement(&own.masks[index].decode(), &masks[row]));
            }
            if let (Some(places), Some(scores)) = (&keypoints, &keypoint_scores) {
                for (point, keypoint) in own.keypoints[index].iter().enumerate() {
                    let place = &places[3 * (row * own.keypoints[index].len() + point)..][..2];
                    let score = scores[row * own.keypoints[index].len() + point];
                    let apart = [f64::from(keypoint.x) - place[0], f64::from(keypoint.y) - place[1]];
                    found[3] = largest(found[3], apart[0].abs().max(apart[1].abs()));
                    found[4] = largest(found[4], (f64::from(keypoint.score) - score).abs());
                }
            }
        }
        let limits = [0.05, 1e-3, 0.01, 0.6, 1e-2];
        let names = [
            "boxes (pixels)",
            "scores",
            "masks (1 - IoU)",
            "keypoints (pixels)",
            "keypoint scores",
        ];
        for ((name, found), limit) in names.iter().zip(found).zip(limits) {
            self.print(&format!("{prefix} {name}"), found);
            assert!(found <= limit, "{model} {prefix} {name}: {found:e}");
        }
    }

    /// Prints a difference, which a failing test shows, and `--nocapture`.
    fn print(&self, name: &str, difference: f64) {
        println!("{:<40} {name:<32} {difference:.1e}", self.recording.name);
    }
}

/// The larger value; infinite for NaN, so that it exceeds every tolerance.
fn largest(one: f64, other: f64) -> f64 {
    if one.is_nan() || other.is_nan() {
        f64::INFINITY
    } else {
        one.max(other)
    }
}

fn distance(one: &[f64; 4], other: &[f64; 4]) -> f64 {
    one.iter()
        .zip(other)
        .map(|(one, other)| (one - other).abs())
        .fold(0.0, largest)
}

/// The masks, row by row, of run lengths down the columns.
fn masks(counts: &[f64], [height, width]: [usize; 2]) -> Vec<Vec<bool>> {
    let mut masks = Vec::new();
    let (mut pixels, mut runs) = (vec![false; height * width], 0);
    let mut pixel = 0;
    for &count in counts {
        for place in pixel..pixel + count as usize {
            pixels[place % height * width + place / height] = runs % 2 == 1;
        }
        pixel += count as usize;
        runs += 1;
        if pixel == height * width {
            masks.push(std::mem::replace(&mut pixels, vec![false; height * width]));
            (pixel, runs) = (0, 0);
        }
    }
    masks
}

/// 1 less the intersection over union. One pixel may differ: it can lie at the threshold of the probability, and small
/// masks have less than 100 pixels.
fn disagreement(own: &[bool], expected: &[bool]) -> f64 {
    assert_eq!(own.len(), expected.len());
    let pairs = || own.iter().zip(expected);
    let union = pairs().filter(|&(&own, &expected)| own || expected).count();
    let differ = pairs().filter(|(own, expected)| own != expected).count();
    differ.saturating_sub(1) as f64 / union.max(1) as f64
}
