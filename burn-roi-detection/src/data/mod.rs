//! Data sets for training and evaluation.

pub mod coco;
