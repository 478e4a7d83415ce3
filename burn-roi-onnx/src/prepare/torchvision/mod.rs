//! Finds what torchvision's exports compute with many nodes, and puts one node in its place.

pub(super) mod batched_suppression;
pub(super) mod keypoints;
pub(super) mod paste_masks;
mod producers;
pub(super) mod pyramid;
