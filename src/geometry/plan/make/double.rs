//! Plans in f64.

#[path = "makers/mod.rs"]
mod makers;

use crate::geometry::real::double as real;
