//! COCO's evaluation of boxes, masks and keypoints: average precision and average recall, as pycocotools' `COCOeval`
//! computes them.
//!
//! The words: a *truth* is a ground-truth object. A detection matches a truth of its image and category if their
//! similarity reaches a threshold: the IoU of boxes or masks, or the OKS (object keypoint similarity). The detection
//! with the highest score chooses first.
//!
//! - A crowd is ignored and may be matched any number of times. Its IoU is the intersection divided by the area of the
//!   detection.
//! - A truth outside of a range of areas is ignored there. A detection that matches an ignored truth is ignored, and so
//!   is one without a match whose own area is outside of the range.
//! - Detections of equal score keep their order.
//! - A detection of a category that the data set does not have is ignored.
//!
//! What differs: in pycocotools, a detection that matches the annotation with id 0 counts as wrong. Here it counts as
//! right. Without detections, AP is 0 here, and pycocotools fails. A file with flaws is evaluated as
//! [`CocoDataset`](crate::data::coco::CocoDataset) has mended it.
//!
//! ```
//! use burn_roi_detection::data::coco::CocoDataset;
//! use burn_roi_detection::evaluate::coco::{CocoDetection, CocoEvaluationConfig, CocoKind, evaluate_coco};
//!
//! let json = r#"{
//!     "images": [{"id": 9, "height": 100, "width": 100}],
//!     "categories": [{"id": 17, "name": "cat"}],
//!     "annotations": [
//!         {"id": 1, "image_id": 9, "category_id": 17, "iscrowd": 0, "area": 400, "bbox": [10, 10, 20, 20]},
//!         {"id": 2, "image_id": 9, "category_id": 17, "iscrowd": 0, "area": 900, "bbox": [50, 50, 30, 30]}
//!     ]
//! }"#;
//! let dataset = CocoDataset::from_json(json.as_bytes())?;
//! // The image, the category, the score, and a box `[x, y, w, h]`.
//! let detections = [CocoDetection::new(9, 17, 0.9).with_corners([10.0, 10.0, 30.0, 30.0])];
//! let evaluation = evaluate_coco(&dataset, &detections, &CocoEvaluationConfig::new(CocoKind::Bbox));
//! // One of two objects was found.
//! assert_eq!(evaluation.metrics.ar, Some(0.5));
//! println!("{evaluation}");
//! # Ok::<(), burn_roi_detection::data::coco::CocoReadError>(())
//! ```

mod cells;
mod checks;
mod config;
mod detection;
#[cfg(feature = "models")]
mod detector;
mod evaluation;
mod matching;
mod metrics;
mod precision;
mod similarity;
mod table;

pub use config::{COCO_KEYPOINT_SIGMAS, CocoEvaluationConfig, CocoKind};
pub use detection::{CocoDetection, detections_from_json, detections_to_json, try_detections_to_json};
pub use evaluation::{CocoCategoryMetrics, CocoEvaluation, evaluate_coco, try_evaluate_coco};
pub use metrics::{CocoMetrics, CocoRecall};
