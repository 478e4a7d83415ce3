//! The gradient of features.
//!
//! A task owns some channels of an image and walks its regions in one order, so sums have the same bits for any number
//! of threads.
//!
//! - [`pass`]: from a call to its tasks, and how a task is computed.
//! - [`regions`]: the regions that tasks share. [`tasks`]: how the gradient is divided.
//! - [`scatter`]: a kernel for each kind of plan.
//! - [`sum_rows`]: the rows that regions add to. [`row_writer`] writes them.

mod pass;
mod regions;
mod row_writer;
mod scatter;
mod sum_rows;
mod tasks;

use burn::backend::Flex;
use burn_flex::FlexTensor;

use super::dtype::{Sum, of_sums};
use super::pixels::with_contiguous_rows;
use crate::backend::RegionCall;
use crate::geometry::plan::{PlanKind, Planner};
use scatter::{ScatterAverage, ScatterMaxOfPixels, ScatterMaxOfSamples, ScatterPoints};

/// The gradient of features. An average needs no `features`.
pub fn features_gradient(gradient: FlexTensor, features: Option<FlexTensor>, call: &RegionCall<Flex>) -> FlexTensor {
    let gradient_of = of_sums!(gradient.dtype(), gradient_in_sums);
    gradient_of(gradient, features, call)
}

fn gradient_in_sums<S: Sum>(gradient: FlexTensor, features: Option<FlexTensor>, call: &RegionCall<Flex>) -> FlexTensor {
    let gradient = gradient.to_contiguous();
    let features = features.map_or_else(|| gradient.clone(), with_contiguous_rows);
    let planner = Planner::<S>::new(&call.operator, call.features_shape);
    match planner.kind() {
        PlanKind::Weights => pass::scatter(&gradient, &features, call, &planner, &ScatterAverage),
        PlanKind::SampleTaps => pass::scatter(
            &gradient,
            &features,
            call,
            &planner,
            &ScatterMaxOfSamples(planner.values()),
        ),
        PlanKind::PixelRanges => pass::scatter(&gradient, &features, call, &planner, &ScatterMaxOfPixels(&planner)),
        PlanKind::Points => pass::scatter(&gradient, &features, call, &planner, &ScatterPoints),
    }
}
