//! The gradient of boxes and offsets: a task owns a region.
//!
//! - [`axis`]: operators with axis plans; [`pull_ends`] has a kernel for each kind of plan.
//! - [`points`]: operators with point plans.

mod axis;
mod points;
mod pull_ends;

use burn::backend::Flex;
use burn_flex::FlexTensor;

use super::dtype::{Sum, of_sums};
use super::pixels::with_contiguous_rows;
use crate::backend::RegionCall;
use crate::geometry::plan::{PlanKind, Planner, PointPlanner};
use axis::BoxesGradientInputs;
use pull_ends::{PullAverage, PullMaxOfSamples};

/// The gradient of the boxes and offsets, `[K, columns]`, in the dtype of sums.
pub fn regions_gradient(gradient: FlexTensor, features: FlexTensor, call: &RegionCall<Flex>) -> FlexTensor {
    let gradient_of = of_sums!(gradient.dtype(), gradient_in_sums);
    gradient_of(gradient, features, call)
}

fn gradient_in_sums<S: Sum>(gradient: FlexTensor, features: FlexTensor, call: &RegionCall<Flex>) -> FlexTensor {
    let (regions, operator) = (call.host_regions(), &call.operator);
    let gradient = gradient.to_contiguous();
    let features = with_contiguous_rows(features);
    let [_, _, height, width] = call.features_shape;
    if let Some(planner) = PointPlanner::new(operator, [height, width]) {
        return points::regions_gradient::<S>(&gradient, &features, regions, &planner);
    }
    let planner = Planner::new(operator, [height, width]);
    let inputs = BoxesGradientInputs::<S> {
        gradient: &gradient,
        features: &features,
        regions,
        planner: &planner,
        box_format: operator.box_format,
    };
    match planner.kind() {
        PlanKind::Weights => axis::boxes_gradient(inputs, &PullAverage),
        PlanKind::SampleTaps => axis::boxes_gradient(inputs, &PullMaxOfSamples::new(&planner)),
        PlanKind::PixelRanges => unreachable!("bins do not move with a box"),
    }
}
