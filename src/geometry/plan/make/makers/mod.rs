//! The makers of plans in one type of coordinates.
//!
//! - `coordinate`: the trait [`Coordinate`](crate::geometry::plan::Coordinate) of that type.
//! - `axes`: the plan of one axis. `points`: the plan of a region that reads points. `scratch`: the weights of a point
//!   plan's element while its samples are added up.

mod axes;
mod coordinate;
mod points;
mod scratch;

use super::real;
