//! Draws the pictures of training and evaluation.
//!
//! They are like those of `detection_head/train/shapes.py`, which the shipped weights were trained on: the same sizes,
//! surfaces, noise and overlaps. The numbers in these files are those of `shapes.py`. The cross is new.

mod outline;
mod picture;
mod surface;

pub use outline::{NEW_SHAPE, SHAPES};
pub use picture::{Drawn, Picture, SIZES, draw};
