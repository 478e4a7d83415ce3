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
#[path = "../plan/make.rs"]
pub mod make;
#[path = "../plan/make_integrals.rs"]
pub mod make_integrals;
#[path = "../plan/make_points.rs"]
pub mod make_points;
#[path = "../plan/make_slopes.rs"]
pub mod make_slopes;
#[path = "point_slopes.rs"]
pub mod point_slopes;
#[path = "points.rs"]
pub mod points;
#[cfg(feature = "cube")]
#[path = "reach.rs"]
pub mod reach;
#[path = "samples.rs"]
pub mod samples;
#[path = "../plan/scratch.rs"]
mod scratch;
#[path = "slopes.rs"]
pub mod slopes;

use super::quotient::quotient;
