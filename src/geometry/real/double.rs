//! The geometry in f64: for features of f64, which only host backends compute.

/// The type of coordinates, weights and sums.
pub type Real = f64;

#[path = "functions/mod.rs"]
mod functions;

pub use functions::*;

#[cfg(feature = "cube")]
use cubecl::prelude::*;

/// `dividend / divisor`; a host rounds it correctly.
#[cfg_attr(feature = "cube", cube)]
fn quotient(dividend: Real, divisor: Real) -> Real {
    dividend / divisor
}
