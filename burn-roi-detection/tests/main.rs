//! The parts of detectors: their results compared with torchvision's, their behaviour where torchvision's is undefined,
//! and their errors.

#[path = "../../tests/support/backends.rs"]
mod backends;
#[path = "../../tests/support/strict_config.rs"]
mod strict_config;

mod anchors;
mod any_annotations;
mod any_calls;
mod any_checkpoint;
mod any_detection;
mod awaiting;
mod bad_input;
mod beyond_torchvision;
mod box_coder;
mod boxes;
mod cases;
mod configs;
mod detections;
mod detectron2;
mod evaluate;
mod heads;
mod keypoints;
mod masks;
#[cfg(feature = "models")]
mod models;
mod nms;
mod nms_on_device;
mod odd_values;
mod onnx_suppression;
mod proposals;
mod reports;
mod rotated;
mod top_k;
#[cfg(feature = "train")]
mod train;
mod training;
