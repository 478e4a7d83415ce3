//! What training the heads takes: matches with the ground truth, random samples and targets.

mod ground_truth;
mod matcher;
mod permutations;
mod sampler;
mod samples;
mod targets;

use burn::tensor::{Int, Tensor};

pub use matcher::Matcher;
pub use permutations::random_permutations;
pub use sampler::BalancedPositiveNegativeSampler;
pub use samples::{TrainingSamples, TrainingSamplesConfig, select_training_samples, try_select_training_samples};
pub use targets::{
    assign_targets_to_anchors, assign_targets_to_proposals, try_assign_targets_to_anchors,
    try_assign_targets_to_proposals,
};

/// An integer tensor for each image.
type IntsOfImages = Vec<Tensor<1, Int>>;
