//! The geometry in f32: for features of f32, f16 and bf16, on the host and inside kernels.

/// The type of coordinates, weights and sums.
pub type Real = f32;

#[cfg(feature = "cube")]
#[path = "angle.rs"]
pub mod angle;
#[path = "area.rs"]
pub mod area;
#[path = "between.rs"]
pub mod between;
#[path = "bins.rs"]
pub mod bins;
#[path = "integrals.rs"]
pub mod integrals;
#[path = "point_slopes.rs"]
pub mod point_slopes;
#[path = "points.rs"]
pub mod points;
#[path = "rules.rs"]
pub mod rules;
#[path = "samples.rs"]
pub mod samples;
#[path = "slopes.rs"]
pub mod slopes;

use super::quotient::quotient;
