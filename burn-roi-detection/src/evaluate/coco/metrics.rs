//! [`CocoMetrics`]: the metrics of an evaluation.

use serde::{Deserialize, Serialize};

use super::precision::Curve;
use super::{CocoEvaluationConfig, CocoKind};

/// Average precision (AP) and average recall (AR), from 0 to 1. `None` if there is no truth to find, or if the
/// threshold is not in the config; pycocotools prints -1.
///
/// Each is a mean over the thresholds of the config, 0.5 to 0.95 by default, and over the categories that have a truth.
/// Precision is read at 101 recalls, 0 to 1. For each image and category, the `max_detections` detections with the
/// highest scores count. If the config has several numbers, the largest is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CocoMetrics {
    /// AP.
    pub ap: Option<f64>,
    /// AP at the threshold 0.5.
    pub ap50: Option<f64>,
    /// AP at the threshold 0.75.
    pub ap75: Option<f64>,
    /// AP of small objects.
    pub ap_small: Option<f64>,
    /// AP of medium objects.
    pub ap_medium: Option<f64>,
    /// AP of large objects.
    pub ap_large: Option<f64>,
    /// AR for each of the config's `max_detections`, by default 1, 10 and 100 for boxes and masks, 20 for keypoints.
    pub ar_by_max_detections: Vec<CocoRecall>,
    /// AR, the last of `ar_by_max_detections`.
    pub ar: Option<f64>,
    /// AR at the threshold 0.5.
    pub ar50: Option<f64>,
    /// AR at the threshold 0.75.
    pub ar75: Option<f64>,
    /// AR of small objects.
    pub ar_small: Option<f64>,
    /// AR of medium objects.
    pub ar_medium: Option<f64>,
    /// AR of large objects.
    pub ar_large: Option<f64>,
}

/// Average recall for a number of detections of an image and a category.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CocoRecall {
    /// The number of detections, at most.
    pub max_detections: usize,
    /// AR.
    pub ar: Option<f64>,
}

impl CocoMetrics {
    /// The metrics in the order of pycocotools' `stats`, with -1 for `None`: for boxes and masks AP, AP50, AP75, AP by
    /// area, AR for each of `max_detections`, AR by area, 12 by default; for keypoints AP, AP50, AP75, AP of medium and
    /// large objects, and AR of the same, 10.
    pub fn stats(&self, kind: CocoKind) -> Vec<f64> {
        let precision = [self.ap, self.ap50, self.ap75];
        let precision_by_area = [self.ap_small, self.ap_medium, self.ap_large];
        let recall_by_area = [self.ar_small, self.ar_medium, self.ar_large];
        let stats = match kind {
            CocoKind::Keypoints => {
                let recall = [self.ar, self.ar50, self.ar75];
                // pycocotools has no small objects here.
                [&precision, &precision_by_area[1..], &recall, &recall_by_area[1..]].concat()
            }
            CocoKind::Bbox | CocoKind::Segm => {
                let recalls: Vec<_> = self.ar_by_max_detections.iter().map(|recall| recall.ar).collect();
                [&precision, &precision_by_area[..], &recalls, &recall_by_area].concat()
            }
        };
        stats.into_iter().map(|value| value.unwrap_or(-1.0)).collect()
    }
}

/// The numbers of several categories, or of one. Each has a curve for each range of areas.
pub fn metrics(categories: &[&[Option<Curve>; 4]], config: &CocoEvaluationConfig) -> CocoMetrics {
    let every: Vec<usize> = (0..config.iou_thresholds.len()).collect();
    let at = |threshold: f64| -> Vec<usize> {
        let found = config.iou_thresholds.iter().position(|&value| value == threshold);
        found.into_iter().collect()
    };
    let maxima = config.maxima();
    let last = maxima.len() - 1;
    let precision = |range: usize, thresholds: &[usize]| mean(categories, range, thresholds, |curve| &curve.precision);
    let recall = |range: usize, thresholds: &[usize], maximum: usize| {
        mean(categories, range, thresholds, |curve| &curve.recall[maximum])
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

/// The mean of values of each threshold over these thresholds and the categories with a truth in this range.
fn mean(
    categories: &[&[Option<Curve>; 4]],
    range: usize,
    thresholds: &[usize],
    values: impl Fn(&Curve) -> &Vec<f64>,
) -> Option<f64> {
    let curves = categories.iter().filter_map(|ranges| ranges[range].as_ref());
    let values = curves.flat_map(|curve| thresholds.iter().map(|&threshold| values(curve)[threshold]));
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
