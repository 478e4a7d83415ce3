//! Plans in f32.

#[path = "axes.rs"]
mod axes;
#[path = "coordinate.rs"]
mod coordinate;
#[path = "points.rs"]
mod points;
#[path = "scratch.rs"]
mod scratch;

use crate::geometry::real::single as real;
