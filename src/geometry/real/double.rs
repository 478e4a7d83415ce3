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

#[cfg(feature = "cube")]
use cubecl::prelude::*;

/// `dividend / divisor`; a host rounds it correctly.
#[cfg_attr(feature = "cube", cube)]
fn quotient(dividend: Real, divisor: Real) -> Real {
    dividend / divisor
}
