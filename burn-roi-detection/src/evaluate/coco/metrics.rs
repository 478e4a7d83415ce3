//! [`CocoMetrics`]: the metrics of an evaluation.

use serde::{Deserialize, Serialize};

use super::CocoKind;

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
