//! How good a detector is: its detections compared with the truth.

pub mod coco;
