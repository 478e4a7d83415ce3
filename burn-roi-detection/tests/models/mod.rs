//! Whole detectors: every part of torchvision's seven models and of detectron2's as recorded, batches, weights as
//! files, and configs.

mod backbones;
mod batches;
mod comparison;
mod configs;
mod detectron2;
mod layers_dtype;
mod narrow;
#[path = "../../../tests/support/pickle.rs"]
mod pickle;
mod recording;
mod recordings;
mod vitdet;
mod weights;
