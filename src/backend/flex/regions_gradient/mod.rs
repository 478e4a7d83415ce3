//! The gradient of boxes and offsets: a task owns a region.
//!
//! - [`pass`]: from a call to its regions, and from a region to its kernel.
//! - [`axes`]: the kernels for axis plans. [`points`]: the kernel for point plans.

mod axes;
mod pass;
mod points;

use burn::backend::Flex;
use burn_flex::FlexTensor;

use super::dtype::Sum;
use super::pixels::with_contiguous_rows;
use crate::backend::RegionCall;
use crate::geometry::plan::{PlanKind, Planner};
use axes::{PullAverage, PullMaxOfSamples};
use points::PullPoints;

/// The gradient of the boxes and offsets, `[K, columns]`, in the dtype of sums.
pub fn regions_gradient<S: Sum>(gradient: FlexTensor, features: FlexTensor, call: &RegionCall<Flex>) -> FlexTensor {
    let (gradient, features) = (gradient.to_contiguous(), with_contiguous_rows(features));
    let planner = Planner::<S>::new(&call.operator, call.features_shape);
    let (regions, maximum) = (call.host_regions(), PullMaxOfSamples(planner.values()));
    match planner.kind() {
        PlanKind::Weights => pass::pull(&gradient, &features, regions, &planner, &PullAverage),
        PlanKind::SampleTaps => pass::pull(&gradient, &features, regions, &planner, &maximum),
        PlanKind::PixelRanges => unreachable!("bins do not move with a box"),
        PlanKind::Points => pass::pull(&gradient, &features, regions, &planner, &PullPoints),
    }
}
