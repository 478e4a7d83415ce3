//! Recognizes subgraphs of torchvision's exports and replaces each by one node.

pub(super) mod batched_suppression;
pub(super) mod keypoints;
pub(super) mod paste_masks;
mod producers;
pub(super) mod pyramid;
