//! This crate's replacements for standard operators, loops and branches that burn-onnx refuses or whose generated code
//! fails.

pub(crate) mod batched_suppression;
mod extremes;
pub(crate) mod indexing;
pub(crate) mod keypoints;
mod operator;
mod resize;
pub(crate) mod shaping;
pub(crate) mod sizes;
pub(crate) mod softmax;
pub(crate) mod suppression;
pub(crate) mod top_k;

pub(crate) use operator::{AXES, OwnOperator};

use crate::read::opset::DOMAIN;

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static OwnOperator> {
    [
        batched_suppression::OPERATORS,
        extremes::OPERATORS,
        indexing::OPERATORS,
        keypoints::OPERATORS,
        resize::OPERATORS,
        shaping::OPERATORS,
        sizes::OPERATORS,
        softmax::OPERATORS,
        suppression::OPERATORS,
        top_k::OPERATORS,
    ]
    .into_iter()
    .flatten()
}

/// The operator of a name in an operator set.
pub(crate) fn find(domain: &str, name: &str) -> Option<&'static OwnOperator> {
    all().find(|operator| domain == DOMAIN && operator.name == name)
}
