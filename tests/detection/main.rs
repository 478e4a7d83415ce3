//! The detection module against torchvision's own results, and what it does with bad input.

#[path = "../support/backends.rs"]
mod backends;

mod anchors;
mod bad_input;
mod box_coder;
mod boxes;
mod cases;
mod defined;
mod detections;
mod heads;
mod masks;
mod nms;
mod proposals;
