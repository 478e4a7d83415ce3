//! The geometry in f32: for features of f32, f16 and bf16, on the host and inside kernels.

/// The type of coordinates, weights and sums.
pub type Real = f32;

#[path = "area.rs"]
pub mod area;
#[path = "bins.rs"]
pub mod bins;
#[path = "../plan/make.rs"]
pub mod make;
#[path = "samples.rs"]
pub mod samples;

use super::quotient::quotient;
