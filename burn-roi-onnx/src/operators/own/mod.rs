//! This crate's replacements for standard operators, loops and branches that burn-onnx refuses or whose generated code
//! fails.

pub(crate) mod batched_suppression;
pub(crate) mod extremes;
pub(crate) mod indexing;
pub(crate) mod keypoints;
mod operator;
pub(crate) mod resize;
pub(crate) mod rotated_suppression;
pub(crate) mod shaping;
pub(crate) mod sizes;
pub(crate) mod softmax;
pub(crate) mod suppression;
pub(crate) mod top_k;

pub(crate) use operator::{OwnHook, OwnOperator};

use crate::read::opset::DOMAIN;
use shaping::Shaping;

/// All of them.
pub(crate) const ALL: [&dyn OwnOperator; 19] = [
    &batched_suppression::BatchedSuppression,
    &extremes::Extremes::ReduceMax,
    &extremes::Extremes::ReduceMin,
    &indexing::Indexing::GatherNd,
    &indexing::Indexing::ScatterNd,
    &keypoints::Keypoints,
    &resize::Resizing::Resize,
    &resize::Resizing::Upsample,
    &rotated_suppression::RotatedSuppression,
    &Shaping::Expand,
    &Shaping::Flatten,
    &Shaping::Reshape,
    &Shaping::Squeeze,
    &Shaping::Unsqueeze,
    &sizes::Sizes,
    &softmax::Softmax::Softmax,
    &softmax::Softmax::LogSoftmax,
    &suppression::Suppression,
    &top_k::TopK,
];

/// The operator of a name in an operator set.
pub(crate) fn find(domain: &str, name: &str) -> Option<&'static dyn OwnOperator> {
    ALL.into_iter()
        .find(|operator| domain == DOMAIN && operator.name() == name)
}
