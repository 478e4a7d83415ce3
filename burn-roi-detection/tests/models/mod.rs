//! Whole detectors: every part of torchvision's seven models as recorded, batches, weights as files, and configs.

mod batches;
mod comparison;
mod configs;
mod narrow;
mod recording;
mod recordings;
mod weights;
