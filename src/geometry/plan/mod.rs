//! What a host executor needs of a region, made once and used for every channel.
//!
//! A [`Planner`] knows an operator and the shape of the features. With it [`AxisPlan::make`] plans a run of output
//! elements of a region along one axis, as one of three kinds of [`AxisPlan`] that [`Planner::kind`] names:
//!
//! - [`Weights`] for averages: an element is a weighted sum of pixels.
//! - [`SampleTaps`] for maxima of samples: an element is the largest of several weighted sums of two pixels.
//! - [`PixelRanges`] for maxima of bins: an element is the largest of a range of pixels.
//!
//! For the gradient of boxes, the first two hold the derivatives of their weights too.
//!
//! These operators are separable: their two axes are planned one by one. One that reads points is not, and
//! [`Coordinate::point_weights`] plans its regions as [`PointWeights`], the weighted pixels of each element.
//!
//! A [`ChannelGroup`] has the elements that read the same channels of the features.
//!
//! `make` has the code behind both, for f32 and for f64; [`Coordinate`] is the trait of these two types.

// Flex alone uses some of it.
#![cfg_attr(not(feature = "flex"), allow(dead_code))]

mod axis;
mod axis_plan;
mod group;
mod make;
mod planner;
mod points;
mod region;

pub use axis::{PixelRanges, Read, SampleTaps, Weights, hull, pixel_count};
pub use axis_plan::AxisPlan;
pub use group::ChannelGroup;
pub use planner::{Coordinate, PlanKind, Planner, Values};
pub use points::{ElementSpans, PointWeights};
pub use region::Region;
