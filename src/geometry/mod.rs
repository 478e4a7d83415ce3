//! Where output elements read: values and functions, without tensors, backends or frameworks.
//!
//! - [`operator`]: [`RegionOperator`](operator::RegionOperator), the value that says what an operator computes.
//! - [`options`]: what users choose for an operator, such as how many samples an element takes.
//! - [`angle`]: what the angle of a rotated box means.
//! - [`levels`]: which level of a feature pyramid a box belongs to, as values.
//! - [`point_grid`]: samples that are not a grid of rows and columns of the map, as values.
//! - [`real`]: the functions behind those values. They are compiled for f32, for f64, and by CubeCL into kernels.
//! - [`plan`]: what a host executor needs of a region, made from these functions once for all channels.

pub mod angle;
pub mod levels;
pub mod operator;
pub mod options;
pub mod plan;
pub mod point_grid;
pub mod real;

#[cfg(all(test, feature = "cube"))]
mod tests;
