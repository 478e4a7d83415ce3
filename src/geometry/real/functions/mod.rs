//! The functions of one type of coordinates, which is the parent's `Real`.
//!
//! - `samples`: where the samples of one region fall along one axis, which of them are in bounds, and the pixels
//!   and weights of each.
//! - `slopes`: how those samples move with the region's ends.
//! - `points`: where samples fall that are not a grid of rows and columns of the map. `point_slopes`: how they move.
//! - `between`: which numbers of a sequence may lie in a range.
//! - `bins`: which pixels belong to an output element along one axis.
//! - `integrals`: the weights of pixels in the mean of the bilinear map over a bin, and how they move.
//! - `area`: whether the area of a box is in a range.
//! - `rules`: an operator's values, as the arguments of these functions.

pub mod area;
pub mod between;
pub mod bins;
pub mod integrals;
pub mod point_slopes;
pub mod points;
pub mod rules;
pub mod samples;
pub mod slopes;

use super::{Real, quotient};
