//! The geometry in f64: for features of f64, which only host backends compute.

/// The type of coordinates, weights and sums.
pub type Real = f64;

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
#[path = "samples.rs"]
pub mod samples;
#[path = "../plan/scratch.rs"]
mod scratch;
#[path = "slopes.rs"]
pub mod slopes;

#[cfg(feature = "cube")]
use cubecl::prelude::*;

/// `dividend / divisor`; a host rounds it correctly.
#[cfg_attr(feature = "cube", cube)]
fn quotient(dividend: Real, divisor: Real) -> Real {
    dividend / divisor
}
