//! Averages over categories and thresholds.

use super::CocoEvaluationConfig;
use super::metrics::{CocoMetrics, CocoRecall};
use super::precision::Curve;

/// The numbers of several categories, or of one. Each has a curve for each range of areas.
pub fn metrics(categories: &[&[Option<Curve>; 4]], config: &CocoEvaluationConfig) -> CocoMetrics {
    let every: Vec<usize> = (0..config.iou_thresholds.len()).collect();
    let at = |threshold: f64| -> Vec<usize> {
        let found = config.iou_thresholds.iter().position(|&value| value == threshold);
        found.into_iter().collect()
    };
    let maxima = config.maxima();
    let last = maxima.len() - 1;
    let precision = |range: usize, thresholds: &[usize]| {
        mean(categories, range, thresholds, |curve, threshold| {
            curve.precision[threshold]
        })
    };
    let recall = |range: usize, thresholds: &[usize], maximum: usize| {
        mean(categories, range, thresholds, |curve, threshold| {
            curve.recall[maximum][threshold]
        })
    };
    // In the order of `ranges`.
    let [all, small, medium, large] = [0, 1, 2, 3];
    CocoMetrics {
        ap: precision(all, &every),
        ap50: precision(all, &at(0.5)),
        ap75: precision(all, &at(0.75)),
        ap_small: precision(small, &every),
        ap_medium: precision(medium, &every),
        ap_large: precision(large, &every),
        ar_by_max_detections: maxima
            .iter()
            .enumerate()
            .map(|(index, &max_detections)| CocoRecall {
                max_detections,
                ar: recall(all, &every, index),
            })
            .collect(),
        ar: recall(all, &every, last),
        ar50: recall(all, &at(0.5), last),
        ar75: recall(all, &at(0.75), last),
        ar_small: recall(small, &every, last),
        ar_medium: recall(medium, &every, last),
        ar_large: recall(large, &every, last),
    }
}

/// The mean of a value over these thresholds and the categories with a truth in this range.
fn mean(
    categories: &[&[Option<Curve>; 4]],
    range: usize,
    thresholds: &[usize],
    value: impl Fn(&Curve, usize) -> f64,
) -> Option<f64> {
    let curves = categories.iter().filter_map(|ranges| ranges[range].as_ref());
    let values = curves.flat_map(|curve| thresholds.iter().map(|&threshold| value(curve, threshold)));
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
