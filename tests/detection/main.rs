//! The detection module: its results compared with torchvision's, its behaviour where torchvision's is undefined, and
//! its errors.

#[path = "../support/backends.rs"]
mod backends;

mod anchors;
mod any_calls;
mod any_detection;
mod awaiting;
mod bad_input;
mod beyond_torchvision;
mod box_coder;
mod boxes;
mod cases;
mod detections;
mod heads;
mod keypoints;
mod masks;
mod nms;
mod odd_values;
mod onnx_suppression;
mod proposals;
mod reports;
mod rotated;
mod training;
