//! Plans in f32.

#[path = "makers/mod.rs"]
mod makers;

use crate::geometry::real::single as real;
