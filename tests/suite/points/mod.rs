//! Operators whose samples are no grid of rows and columns of the map: rotated, deformable and sub-cropped regions.

mod against_reference;
mod bad_input;
mod gradients;
mod limits;
mod properties;
mod pyramids;
