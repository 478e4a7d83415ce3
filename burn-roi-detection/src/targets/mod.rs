//! What the heads learn: ground truth that is matched with anchors and proposals, random samples of them, and targets.

mod assignment;
mod ground_truth;
mod keypoint_targets;
mod mask_targets;
mod matcher;
mod sampler;
mod samples;

use burn::tensor::{Int, Tensor};

pub use assignment::*;
#[cfg(feature = "train")]
pub(crate) use ground_truth::GroundTruth;
pub(crate) use ground_truth::{all_fit, finite_boxes, matched_rows};
pub(crate) use keypoint_targets::{Keypoint, check_keypoints, pixel_of, read_keypoints};
pub use keypoint_targets::{keypoints_to_heatmap, keypoints_to_heatmap_async, try_keypoints_to_heatmap};
pub use mask_targets::{MaskTargets, project_masks_on_boxes, project_masks_on_boxes_async, try_project_masks_on_boxes};
pub use matcher::Matcher;
pub use sampler::BalancedPositiveNegativeSampler;
pub(crate) use sampler::{Samples, rows_where};
pub use samples::*;

/// For each image a list of integers.
type IntsOfImages = Vec<Tensor<1, Int>>;
