//! The makers of plans: they call the functions of [`real`](crate::geometry::real) for the samples, bins or points of a
//! region. Like those functions they are compiled twice, by [`single`] for f32 and by [`double`] for f64.

#[allow(clippy::duplicate_mod)]
mod double;
#[allow(clippy::duplicate_mod)]
mod single;
