//! What training the heads takes: matches with the ground truth, random samples, targets and losses.

mod box_loss;
mod elementary;
mod ground_truth;
mod keypoint_loss;
mod keypoint_targets;
mod mask_loss;
mod mask_targets;
mod matcher;
mod permutations;
mod region_loss;
mod sampler;
mod samples;
mod targets;

use burn::tensor::{Int, Tensor};

pub use box_loss::{fastrcnn_loss, fastrcnn_loss_async, try_fastrcnn_loss};
pub use keypoint_loss::{keypointrcnn_loss, keypointrcnn_loss_async, try_keypointrcnn_loss};
pub use keypoint_targets::{keypoints_to_heatmap, keypoints_to_heatmap_async, try_keypoints_to_heatmap};
pub use mask_loss::{maskrcnn_loss, maskrcnn_loss_async, try_maskrcnn_loss};
pub use mask_targets::{MaskTargets, project_masks_on_boxes, project_masks_on_boxes_async, try_project_masks_on_boxes};
pub use matcher::Matcher;
pub use permutations::random_permutations;
pub use region_loss::{rpn_loss, rpn_loss_async, try_rpn_loss};
pub use sampler::BalancedPositiveNegativeSampler;
pub use samples::{
    TrainingSamples, TrainingSamplesConfig, select_training_samples, select_training_samples_async,
    try_select_training_samples,
};
pub use targets::{
    assign_targets_to_anchors, assign_targets_to_anchors_async, assign_targets_to_proposals,
    assign_targets_to_proposals_async, try_assign_targets_to_anchors, try_assign_targets_to_proposals,
};

/// An integer tensor for each image.
type IntsOfImages = Vec<Tensor<1, Int>>;
