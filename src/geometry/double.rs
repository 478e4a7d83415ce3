//! The geometry in f64: for features of f64, which only host backends compute.

/// The type of coordinates, weights and sums.
pub type Real = f64;

#[path = "area.rs"]
pub mod area;
#[path = "axis.rs"]
pub mod axis;
#[path = "bins.rs"]
pub mod bins;
#[path = "planning.rs"]
mod planning;

#[cfg(feature = "cube")]
use cubecl::prelude::*;

/// `dividend / divisor`; a host rounds it correctly.
#[cfg_attr(feature = "cube", cube)]
pub fn quotient(dividend: Real, divisor: Real) -> Real {
    dividend / divisor
}
