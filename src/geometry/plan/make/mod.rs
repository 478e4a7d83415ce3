//! The makers of plans: they call the functions of [`real`](crate::geometry::real) for the samples, bins or points of a
//! region. Like those functions they are compiled twice, by [`single`] for f32 and by [`double`] for f64.
//!
//! - `coordinate`: the trait [`Coordinate`](super::Coordinate) of both types.
//! - `axes`: the plan of one axis. `points`: the plan of a region that reads points. `scratch`: the weights of a point
//!   plan's element while its samples are added up.

#[allow(clippy::duplicate_mod)]
mod double;
#[allow(clippy::duplicate_mod)]
mod single;
