//! Candidates on the host, and the package's steps between the networks.
//!
//! The package computes boxes in f64 with NumPy, and so does this file: whether a candidate is dropped can depend on
//! the last bits. Four of its habits are kept, since the networks' thresholds were chosen with them:
//!
//! - [`suppress`] is not the usual greedy NMS: a candidate that was dropped itself still drops others.
//! - Widths and heights are `x2 - x1 + 1` for the offsets and landmarks, and `x2 - x1` everywhere else.
//! - Landmarks lie a pixel further to the left and to the top than the networks say.
//! - The boxes of a level are divided by its nominal scale, although its size is rounded down. At a scale of 1/20 that
//!   moves a box at the far end of a picture of 512 pixels by up to 12 of them.

use crate::networks::{CELL, STRIDE};

/// A square or a box that may be a face.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The index of its picture in the batch.
    pub picture: usize,
    /// `[x1, y1, x2, y2]` in pixels.
    pub corners: [f64; 4],
    pub score: f32,
    /// x and y of the left eye, the right eye, the nose, and the left and the right corner of the mouth. "Left" is as
    /// the picture shows it. All 0 before the output network.
    pub landmarks: [[f32; 2]; 5],
}

/// What an overlap is relative to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Overlap {
    /// The union of both boxes: IoU.
    Union,
    /// The smaller of both boxes.
    Smaller,
}

/// The probability of "a face" from the logits of "no face" and "a face".
pub fn face_score([no_face, face]: [f32; 2]) -> f32 {
    let greater = no_face.max(face);
    let [no_face, face] = [no_face, face].map(|logit| (logit - greater).exp());
    face / (no_face + face)
}

/// The candidate of an output pixel of the proposal network, in pixels of the unscaled picture.
pub fn of_cell(picture: usize, [x, y]: [usize; 2], offsets: [f32; 4], score: f32, scale: f64) -> Candidate {
    // Corners from 1 to 12, as in the first implementation, which was in MATLAB.
    let [left, top] = [x, y].map(|index| (STRIDE * index + 1) as f64);
    let side = (CELL - 1) as f64;
    let corners = [left, top, left + side, top + side];
    Candidate {
        picture,
        corners: [0, 1, 2, 3].map(|end| (corners[end] + f64::from(offsets[end]) * side) / scale),
        score,
        landmarks: Default::default(),
    }
}

impl Candidate {
    fn sides(&self) -> [f64; 2] {
        let [x1, y1, x2, y2] = self.corners;
        [x2 - x1, y2 - y1]
    }

    fn area(&self) -> f64 {
        let [width, height] = self.sides();
        width * height
    }

    fn overlap(&self, other: &Self, relative_to: Overlap) -> f64 {
        let [left, right] = [&self.corners, &other.corners];
        let side = |axis: usize| (left[axis + 2].min(right[axis + 2]) - left[axis].max(right[axis])).max(0.0);
        let intersection = side(0) * side(1);
        match relative_to {
            Overlap::Union => intersection / (self.area() + other.area() - intersection),
            Overlap::Smaller => intersection / self.area().min(other.area()),
        }
    }

    /// Moves the corners by offsets that a network computed in f32, relative to the sides.
    pub fn moved(mut self, offsets: [f32; 4]) -> Self {
        let [width, height] = self.sides().map(|side| (side + 1.0) as f32);
        let sides = [width, height, width, height];
        for (corner, (offset, side)) in self.corners.iter_mut().zip(offsets.into_iter().zip(sides)) {
            *corner += f64::from(offset * side);
        }
        self
    }

    /// With landmarks, from all their x and then all their y, relative to the box.
    pub fn with_landmarks(mut self, positions: [f32; 10]) -> Self {
        let sides = self.sides();
        let landmark = |index: usize, axis: usize| {
            let position = f64::from(positions[index + 5 * axis]);
            ((sides[axis] + 1.0) * position + self.corners[axis] - 1.0) as f32
        };
        self.landmarks = [0, 1, 2, 3, 4].map(|index| [landmark(index, 0), landmark(index, 1)]);
        self
    }

    /// The square with the same centre and the longer side.
    pub fn squared(mut self) -> Self {
        let [x1, y1, ..] = self.corners;
        let [width, height] = self.sides();
        let side = width.max(height);
        let [left, top] = [x1 + width * 0.5 - side * 0.5, y1 + height * 0.5 - side * 0.5];
        self.corners = [left, top, left + side, top + side];
        self
    }
}

/// Drops each candidate that overlaps another one of its picture and of a higher score by more than a threshold. The
/// others are ordered by picture, and in it by decreasing score.
pub fn suppress(mut candidates: Vec<Candidate>, threshold: f64, relative_to: Overlap) -> Vec<Candidate> {
    candidates.sort_by(|left, right| {
        let by_picture = left.picture.cmp(&right.picture);
        by_picture.then(right.score.total_cmp(&left.score))
    });
    let mut dropped = vec![false; candidates.len()];
    let mut start = 0;
    for picture in candidates.chunk_by(|left, right| left.picture == right.picture) {
        let end = start + picture.len();
        drop_overlapping(picture, &mut dropped[start..end], threshold, relative_to);
        start = end;
    }
    let mut dropped = dropped.into_iter();
    candidates.retain(|_| !dropped.next().unwrap_or(false));
    candidates
}

/// Marks what to drop among the candidates of a picture, by decreasing score. Only pairs whose rows overlap are
/// compared: a large photograph has 100,000 candidates.
fn drop_overlapping(candidates: &[Candidate], dropped: &mut [bool], threshold: f64, relative_to: Overlap) {
    let mut by_top: Vec<usize> = (0..candidates.len()).collect();
    by_top.sort_by(|&left, &right| candidates[left].corners[1].total_cmp(&candidates[right].corners[1]));
    for (place, &first) in by_top.iter().enumerate() {
        let bottom = candidates[first].corners[3];
        let below = by_top[place + 1..].iter();
        for &second in below.take_while(|&&second| candidates[second].corners[1] < bottom) {
            let lower = first.max(second);
            if !dropped[lower] && candidates[first].overlap(&candidates[second], relative_to) > threshold {
                dropped[lower] = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(picture: usize, corners: [f64; 4], score: f32) -> Candidate {
        Candidate {
            picture,
            corners,
            score,
            landmarks: Default::default(),
        }
    }

    #[test]
    fn a_dropped_candidate_drops_others() {
        // Each overlaps the next by two thirds of the union, and the one after that by 3/7.
        let chain = [0.0, 2.0, 4.0].map(|left| candidate(0, [left, 0.0, left + 10.0, 10.0], 1.0 - left as f32 / 10.0));
        assert_eq!(suppress(chain.to_vec(), 0.5, Overlap::Union), chain[..1]);
        assert_eq!(suppress(chain.to_vec(), 0.7, Overlap::Union), chain);
        // In another picture nothing is dropped.
        let mut apart = chain.to_vec();
        apart[1].picture = 1;
        assert_eq!(
            suppress(apart.clone(), 0.5, Overlap::Union),
            [apart[0], apart[2], apart[1]]
        );
    }

    #[test]
    fn overlaps_are_relative_to_the_union_or_to_the_smaller() {
        let [large, small] = [
            candidate(0, [0.0, 0.0, 10.0, 10.0], 0.9),
            candidate(0, [5.0, 5.0, 11.0, 10.0], 0.8),
        ];
        assert_eq!(large.overlap(&small, Overlap::Union), 25.0 / 105.0);
        assert_eq!(large.overlap(&small, Overlap::Smaller), 25.0 / 30.0);
        let empty = candidate(0, [3.0; 4], 0.7);
        assert!(empty.overlap(&empty, Overlap::Union).is_nan());
        assert_eq!(suppress(vec![empty; 3], 0.5, Overlap::Union).len(), 3);
    }

    #[test]
    fn suppression_is_that_of_every_pair() {
        let mut random = 1u32;
        let mut next = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(random >> 8) / f64::from(1 << 24)
        };
        let candidates: Vec<Candidate> = (0..300)
            .map(|index| {
                let [left, top, width, height] = [next() * 90.0, next() * 90.0, next() * 30.0, next() * 30.0];
                candidate(index % 2, [left, top, left + width, top + height], next() as f32)
            })
            .collect();
        let expected = candidates.iter().filter(|lower| {
            !candidates.iter().any(|higher| {
                let drops = higher.picture == lower.picture && higher.score > lower.score;
                drops && higher.overlap(lower, Overlap::Union) > 0.3
            })
        });
        let kept = suppress(candidates.clone(), 0.3, Overlap::Union);
        assert!(kept.len() > 20 && kept.len() < 250, "{}", kept.len());
        assert_eq!(kept.len(), expected.clone().count());
        assert!(expected.into_iter().all(|candidate| kept.contains(candidate)));
    }

    #[test]
    fn offsets_and_landmarks_count_the_last_pixel() {
        let moved = candidate(0, [10.0, 20.0, 19.0, 39.0], 0.9).moved([0.5, -0.1, 0.0, 0.1]);
        assert_eq!(moved.corners, [15.0, 18.0, 19.0, 41.0]);
        let squared = moved.squared();
        assert_eq!(squared.corners, [5.5, 18.0, 28.5, 41.0]);
        let mut positions = [0.0; 10];
        positions[5..].fill(0.5);
        let landmarks = squared.with_landmarks(positions).landmarks;
        assert_eq!(landmarks, [[4.5, 29.0]; 5]);
    }
}
