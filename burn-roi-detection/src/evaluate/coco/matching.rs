//! Which detections of a cell match a truth.

use super::CocoEvaluationConfig;
use super::cells::{Cell, Truth};
use super::similarity::{area_of, of_cell};
use crate::data::coco::CocoDataset;

/// What became of a detection at a threshold and in a range of areas.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It matches a truth.
    Match,
    /// It matches none.
    False,
    /// It counts neither way.
    Ignored,
}

/// A range of areas in pixels. Both limits belong to it.
pub type Range = [f64; 2];

/// The ranges of areas: all, small, medium and large. Larger than any object of COCO is 1e10.
pub fn ranges(config: &CocoEvaluationConfig) -> [Range; 4] {
    let [small, large] = config.area_limits;
    [[0.0, 1e10], [0.0, small], [small, large], [large, 1e10]]
}

/// The outcomes of the detections of a cell.
pub struct Outcomes {
    /// The score of each detection, which decrease.
    pub scores: Vec<f64>,
    /// `[A, T, D]` in row-major order: for each range, each threshold and each detection.
    pub outcomes: Vec<Outcome>,
    /// The number of truths in each range that are not ignored.
    pub truths: [usize; 4],
}

pub fn match_cell(cell: &Cell, dataset: &CocoDataset, config: &CocoEvaluationConfig) -> Outcomes {
    let similarities = of_cell(cell, dataset, config);
    let areas = cell.detections.iter().map(|detection| area_of(detection, config.kind));
    let areas: Vec<f64> = areas.collect();
    let mut outcomes = Vec::with_capacity(4 * config.iou_thresholds.len() * areas.len());
    let truths = ranges(config).map(|range| {
        let candidates = Candidates::new(cell, &similarities, range);
        for &threshold in &config.iou_thresholds {
            candidates.choose(threshold, |detection, choice| {
                outcomes.push(match choice {
                    Some(true) => Outcome::Ignored,
                    Some(false) => Outcome::Match,
                    None if is_outside(areas[detection], range) => Outcome::Ignored,
                    None => Outcome::False,
                });
            });
        }
        candidates.is_ignored.iter().filter(|&&is_ignored| !is_ignored).count()
    });
    Outcomes {
        scores: cell.detections.iter().map(|detection| detection.score).collect(),
        outcomes,
        truths,
    }
}

fn is_outside(area: f64, [least, most]: Range) -> bool {
    area < least || area > most
}

/// The truths that detections choose from, in a range of areas.
struct Candidates<'a> {
    detections: usize,
    similarities: &'a [f64],
    /// The truths in the order in which they are offered: those that are ignored last.
    order: Vec<usize>,
    is_ignored: Vec<bool>,
    is_crowd: Vec<bool>,
}

impl<'a> Candidates<'a> {
    fn new(cell: &Cell, similarities: &'a [f64], range: Range) -> Self {
        let is_ignored = |truth: &Truth| truth.is_ignored || is_outside(truth.annotation.area, range);
        let is_ignored: Vec<bool> = cell.truths.iter().map(is_ignored).collect();
        let mut order: Vec<usize> = (0..is_ignored.len()).collect();
        order.sort_by_key(|&truth| is_ignored[truth]);
        Self {
            detections: cell.detections.len(),
            similarities,
            order,
            is_ignored,
            is_crowd: cell.truths.iter().map(|truth| truth.annotation.is_crowd).collect(),
        }
    }

    /// Calls `chosen` with each detection and whether the truth that it chooses is ignored, if it chooses one.
    fn choose(&self, threshold: f64, mut chosen: impl FnMut(usize, Option<bool>)) {
        let mut is_taken = vec![false; self.order.len()];
        for detection in 0..self.detections {
            let choice = self.choice(detection, threshold, &is_taken);
            if let Some(truth) = choice {
                is_taken[truth] = true;
            }
            chosen(detection, choice.map(|truth| self.is_ignored[truth]));
        }
    }

    /// The most similar truth for a detection, the last one of several. One that is ignored is chosen only if there is
    /// no other.
    fn choice(&self, detection: usize, threshold: f64, is_taken: &[bool]) -> Option<usize> {
        let row = &self.similarities[detection * self.order.len()..][..self.order.len()];
        // The IoU of equal boxes may be a little below 1.
        let (mut most, mut choice) = (threshold.min(1.0 - 1e-10), None);
        for &truth in &self.order {
            if is_taken[truth] && !self.is_crowd[truth] {
                continue;
            }
            if choice.is_some_and(|choice: usize| !self.is_ignored[choice]) && self.is_ignored[truth] {
                break;
            }
            if row[truth] >= most {
                (most, choice) = (row[truth], Some(truth));
            }
        }
        choice
    }
}
