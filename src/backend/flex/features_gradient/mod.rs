//! The gradient of features.
//!
//! A task owns some channels of an image and walks its regions in one order, so sums have the same bits for any number
//! of threads.
//!
//! - [`axis`]: operators with axis plans. [`runs`] are the regions that tasks share, and [`scatter`] has a kernel for
//!   each kind of plan.
//! - [`points`]: operators with point plans.
//! - [`tasks`]: how the gradient is divided, for both.
//! - [`sum_rows`]: the rows that regions add to. [`row_writer`] writes them.

mod axis;
mod points;
mod row_writer;
mod runs;
pub mod scatter;
mod sum_rows;
mod tasks;

use burn::backend::Flex;
use burn::tensor::Shape;
use burn_flex::FlexTensor;

use super::dtype::{Sum, of_sums, round_to};
use super::pixels::with_contiguous_rows;
use crate::backend::RegionCall;
use crate::geometry::plan::{PlanKind, Planner, PointPlanner};
use axis::FeaturesGradientInputs;
use scatter::{Scatter, ScatterAverage, ScatterMaxOfPixels, ScatterMaxOfSamples};

/// The gradient of features. An average needs no `features`.
pub fn features_gradient(gradient: FlexTensor, features: Option<FlexTensor>, call: &RegionCall<Flex>) -> FlexTensor {
    let gradient_of = of_sums!(gradient.dtype(), gradient_in_sums);
    gradient_of(gradient, features, call)
}

fn gradient_in_sums<S: Sum>(gradient: FlexTensor, features: Option<FlexTensor>, call: &RegionCall<Flex>) -> FlexTensor {
    let gradient = gradient.to_contiguous();
    let (regions, shape) = (call.host_regions(), Shape::new(call.features_shape));
    let [_, _, height, width] = call.features_shape;
    if let Some(planner) = PointPlanner::new(&call.operator, [height, width]) {
        return points::features_gradient::<S>(&gradient, shape, regions, &planner);
    }
    let features = features.map_or_else(|| gradient.clone(), with_contiguous_rows);
    let planner = Planner::new(&call.operator, [height, width]);
    let inputs = FeaturesGradientInputs::<S> {
        gradient: &gradient,
        features: &features,
        regions,
        shape,
        planner: &planner,
    };
    match planner.kind() {
        PlanKind::Weights => scatter(inputs, &ScatterAverage),
        PlanKind::SampleTaps => scatter(inputs, &ScatterMaxOfSamples::new(&planner)),
        PlanKind::PixelRanges => scatter(inputs, &ScatterMaxOfPixels::new(&planner)),
    }
}

/// Rounds once: sums of several batches are rounded after the last batch.
fn scatter<S: Sum, K: Scatter<S>>(inputs: FeaturesGradientInputs<'_, S>, kernel: &K) -> FlexTensor {
    let dtype = inputs.gradient.dtype();
    let sums_dtype = if axis::is_one_batch::<S, K>(&inputs) {
        dtype
    } else {
        S::dtype()
    };
    round_to(axis::features_gradient(inputs, kernel, sums_dtype), dtype)
}
