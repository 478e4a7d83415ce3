//! [`CocoEvaluationConfig`]: what is compared, and how.

use std::fmt;

use crate::configs::configs;
use serde::{Deserialize, Serialize};

/// What detections are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CocoKind {
    /// The IoU of boxes.
    Bbox,
    /// The IoU of masks.
    Segm,
    /// The OKS, object keypoint similarity.
    Keypoints,
}

impl fmt::Display for CocoKind {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Self::Bbox => "bbox",
            Self::Segm => "segm",
            Self::Keypoints => "keypoints",
        })
    }
}

/// COCO's standard deviations of the 17 keypoints of a person, as a fraction of the square root of the object's area,
/// in the order of the keypoints: nose, eyes, ears, shoulders, elbows, wrists, hips, knees and ankles.
pub const COCO_KEYPOINT_SIGMAS: [f64; 17] = [
    0.026, 0.025, 0.025, 0.035, 0.035, 0.079, 0.079, 0.072, 0.072, 0.062, 0.062, 0.107, 0.107, 0.087, 0.087, 0.089,
    0.089,
];

configs! {
/// Options of [`evaluate_coco`](super::evaluate_coco); the defaults are COCO's.
pub struct CocoEvaluationConfig {
    /// What detections are compared by.
    pub kind: CocoKind,
    /// The similarities at which a detection matches a truth. Averages are over all of these thresholds. They ascend,
    /// and are above 0 and at most 1.
    pub iou_thresholds: Vec<f64> = coco_thresholds(),
    /// Two areas in pixels: a small object has at most the first one, a large object at least the second one, and a
    /// medium one is between both. At least 0, finite and in ascending order.
    pub area_limits: [f64; 2] = [1024.0, 9216.0],
    /// How many detections of an image and a category count; the highest scores come first. Average recall is computed
    /// for each of these numbers, all other metrics for the last one. They ascend and are above 0. By default
    /// `[1, 10, 100]` for boxes and masks and `[20]` for keypoints.
    pub max_detections: Option<Vec<usize>> = None,
    /// The standard deviation of each keypoint, as a fraction of the square root of the object's area. Above 0.
    pub sigmas: Vec<f64> = COCO_KEYPOINT_SIGMAS.to_vec(),
}
}

impl CocoEvaluationConfig {
    /// [`max_detections`](field@Self::max_detections), or its default.
    pub(super) fn maxima(&self) -> Vec<usize> {
        match (&self.max_detections, self.kind) {
            (Some(maxima), _) => maxima.clone(),
            (None, CocoKind::Keypoints) => vec![20],
            (None, _) => vec![1, 10, 100],
        }
    }
}

/// 0.5 to 0.95. As in NumPy's `linspace`, 0.9 is 0.8999999999999999.
fn coco_thresholds() -> Vec<f64> {
    let step = (0.95 - 0.5) / 9.0;
    (0..10)
        .map(|index| {
            if index == 9 {
                0.95
            } else {
                f64::from(index) * step + 0.5
            }
        })
        .collect()
}
