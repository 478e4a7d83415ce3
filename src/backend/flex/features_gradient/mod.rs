//! The gradient of features.
//!
//! A task owns some channels of an image and walks its regions in one order, so sums have the same bits for any number
//! of threads.
//!
//! - [`pass`]: from a call to its tasks, and how a task is computed.
//! - [`tasks`]: the regions that tasks share, and how the gradient is divided among them.
//! - [`scatter`]: a kernel for each kind of plan.
//! - [`sum_rows`]: the rows that regions add to. [`row_writer`] writes them.

mod pass;
mod row_writer;
mod scatter;
mod sum_rows;
mod tasks;

use burn::backend::Flex;
use burn_flex::FlexTensor;

use super::dtype::Sum;
use super::pixels::with_contiguous_rows;
use crate::backend::RegionCall;
use crate::geometry::plan::{PlanKind, Planner};
use scatter::{ScatterAverage, ScatterMaxOfPixels, ScatterMaxOfSamples, ScatterPoints, ScatterVolume};

/// The gradient of features. An average needs no `features`.
pub fn features_gradient<S: Sum>(
    gradient: FlexTensor,
    features: Option<FlexTensor>,
    call: &RegionCall<Flex>,
) -> FlexTensor {
    let gradient = gradient.to_contiguous();
    let features = features.map_or_else(|| gradient.clone(), with_contiguous_rows);
    let planner = Planner::<S>::new(&call.operator, call.features_shape);
    let maximum = ScatterMaxOfSamples(planner.values());
    match planner.kind() {
        PlanKind::Weights => pass::scatter(&gradient, &features, call, &planner, &ScatterAverage),
        PlanKind::SampleTaps => pass::scatter(&gradient, &features, call, &planner, &maximum),
        PlanKind::PixelRanges => pass::scatter(&gradient, &features, call, &planner, &ScatterMaxOfPixels(&planner)),
        PlanKind::Points => pass::scatter(&gradient, &features, call, &planner, &ScatterPoints),
    }
}

/// The gradient of volumes `[N, C * D, H, W]`, of an operator that averages. `gradient` is `[K, C, P, Q * R]`.
pub fn volumes_gradient<S: Sum>(gradient: FlexTensor, call: &RegionCall<Flex>, planner: &Planner<S>) -> FlexTensor {
    let gradient = gradient.to_contiguous();
    let elements = gradient.layout().shape()[3];
    pass::scatter(&gradient, &gradient, call, planner, &ScatterVolume(elements))
}
