//! Precision and recall of a category.

use super::CocoEvaluationConfig;
use super::cells::descending;
use super::matching::{Outcome, Outcomes};

/// The number of recalls at which precision is read: 0, 0.01 to 1.
const RECALLS: usize = 101;

/// Precision and recall of a category in a range of areas.
pub struct Curve {
    /// For each threshold, the mean of the precision at 101 recalls.
    pub precision: Vec<f64>,
    /// For each number of detections that count and each threshold, the recall.
    pub recall: Vec<Vec<f64>>,
}

/// The curves of a category in each range of areas. `None` if there is no truth to find.
pub fn curves(cells: &[Outcomes], config: &CocoEvaluationConfig) -> [Option<Curve>; 4] {
    let order = by_score(cells);
    std::array::from_fn(|range| {
        let truths = cells.iter().map(|cell| cell.truths[range]).sum();
        (truths > 0).then(|| curve(cells, &order, range, truths, config))
    })
}

/// All detections, each as its cell and its index there, by decreasing score.
fn by_score(cells: &[Outcomes]) -> Vec<(u32, u32)> {
    let of_cell = |(index, cell): (usize, &Outcomes)| {
        let detections = 0..cell.scores.len() as u32;
        detections
            .zip(cell.scores.clone())
            .map(move |(detection, score)| (score, (index as u32, detection)))
    };
    let mut scored: Vec<(f64, (u32, u32))> = cells.iter().enumerate().flat_map(of_cell).collect();
    scored.sort_by(|left, right| descending(left.0, right.0));
    scored.into_iter().map(|(_, detection)| detection).collect()
}

fn curve(
    cells: &[Outcomes],
    order: &[(u32, u32)],
    range: usize,
    truths: usize,
    config: &CocoEvaluationConfig,
) -> Curve {
    let thresholds = config.iou_thresholds.len();
    let maxima = config.maxima();
    let mut curve = Curve {
        precision: Vec::with_capacity(thresholds),
        recall: vec![Vec::with_capacity(thresholds); maxima.len()],
    };
    for threshold in 0..thresholds {
        let row = range * thresholds + threshold;
        let outcomes = order.iter().map(|&(cell, detection)| {
            let cell = &cells[cell as usize];
            (
                cell.outcomes[row * cell.scores.len() + detection as usize],
                detection as usize,
            )
        });
        // The number of matches among the first detections of each image, for each of the maxima.
        let mut matches = vec![0; maxima.len()];
        let mut precisions = Vec::new();
        let mut counted = 0;
        for (outcome, rank) in outcomes.filter(|(outcome, _)| *outcome != Outcome::Ignored) {
            counted += 1;
            if outcome == Outcome::Match {
                // As in pycocotools, the very first match has a precision of 1 - 2^-52.
                precisions.push((precisions.len() + 1) as f64 / (f64::from(counted) + f64::EPSILON));
                let counting = matches.iter_mut().zip(&maxima).filter(|(_, most)| rank < **most);
                counting.for_each(|(matches, _)| *matches += 1);
            }
        }
        curve.precision.push(mean_precision(precisions, truths));
        for (recall, matches) in curve.recall.iter_mut().zip(matches) {
            recall.push(f64::from(matches) / truths as f64);
        }
    }
    curve
}

/// The mean over the recalls of the highest precision at this recall or a higher one, which is 0 if it is not reached.
///
/// - `precisions`: the precision at each match.
fn mean_precision(mut precisions: Vec<f64>, truths: usize) -> f64 {
    for index in (1..precisions.len()).rev() {
        precisions[index - 1] = precisions[index - 1].max(precisions[index]);
    }
    let mut index = 0;
    let mut sum = 0.0;
    for recall in 0..RECALLS {
        // As NumPy computes them.
        let recall = recall as f64 * 0.01;
        while index < precisions.len() && ((index + 1) as f64 / truths as f64) < recall {
            index += 1;
        }
        sum += precisions.get(index).copied().unwrap_or(0.0);
    }
    sum / RECALLS as f64
}
