//! The geometry in f32: for features of f32, f16 and bf16, on the host and inside kernels.

/// The type of coordinates, weights and sums.
pub type Real = f32;

#[cfg(feature = "cube")]
#[path = "angle.rs"]
pub mod angle;
#[path = "functions/mod.rs"]
mod functions;

pub use functions::*;

use super::quotient::quotient;
