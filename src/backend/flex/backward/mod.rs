//! Gradients on Flex.
//!
//! - [`features`]: the gradient of features. A task owns channels of an image; [`runs`] are the regions that tasks
//!   share, [`sum_rows`] the rows that these add to, [`row_writer`] writes them, and [`scatter`] has the kernels, one
//!   for each kind of plan.
//! - [`boxes`]: the gradient of boxes. A task owns a region; [`pull_ends`] has the kernels.

mod boxes;
mod features;
mod pull_ends;
mod row_writer;
mod runs;
mod scatter;
mod sum_rows;

use burn::backend::Flex;
use burn::backend::ops::FloatTensorOps;
use burn::tensor::{DType, FloatDType, Shape};
use burn_flex::FlexTensor;

use super::numbers::{Sum, of_sums};
use super::pixels::with_contiguous_rows;
use super::points;
use crate::geometry::operator::RegionOperator;
use crate::geometry::plan::{PlanKind, Planner, PointPlanner, Region};
use pull_ends::{PullAverage, PullMaxOfSamples};
use scatter::{Scatter, ScatterAverage, ScatterMaxOfPixels, ScatterMaxOfSamples};

/// The gradient of features of a shape. `features` are there where the operator takes a maximum.
pub fn features_gradient(
    gradient: FlexTensor,
    features: Option<FlexTensor>,
    shape: Shape,
    regions: &[Region],
    operator: &RegionOperator,
) -> FlexTensor {
    let gradient_of = of_sums!(gradient.dtype(), features_gradient_of);
    gradient_of(gradient, features, shape, regions, operator)
}

fn features_gradient_of<S: Sum>(
    gradient: FlexTensor,
    features: Option<FlexTensor>,
    shape: Shape,
    regions: &[Region],
    operator: &RegionOperator,
) -> FlexTensor {
    let gradient = gradient.to_contiguous();
    if let Some(planner) = PointPlanner::new(operator, [shape[2], shape[3]]) {
        return points::features_gradient::<S>(&gradient, shape, regions, &planner);
    }
    let features = features.map_or_else(|| gradient.clone(), with_contiguous_rows);
    let planner = Planner::new(operator, [shape[2], shape[3]]);
    let call = features::Call::<S> {
        gradient: &gradient,
        features: &features,
        regions,
        shape,
        planner: &planner,
    };
    match planner.kind() {
        PlanKind::Weights => scatter(call, &ScatterAverage),
        PlanKind::SampleTaps => scatter(call, &ScatterMaxOfSamples::new(&planner)),
        PlanKind::PixelRanges => scatter(call, &ScatterMaxOfPixels::new(&planner)),
    }
}

/// Rounds once: sums that are not complete in one go are rounded after all of them are.
fn scatter<S: Sum, K: Scatter<S>>(call: features::Call<'_, S>, kernel: &K) -> FlexTensor {
    let dtype = call.gradient.dtype();
    let of_batches = if features::is_one_batch::<S, K>(&call) {
        dtype
    } else {
        S::dtype()
    };
    in_dtype(features::run(call, kernel, of_batches), dtype)
}

/// Sums, rounded to a dtype.
pub fn in_dtype(sums: FlexTensor, dtype: DType) -> FlexTensor {
    if dtype == sums.dtype() {
        return sums;
    }
    Flex::float_cast(sums, FloatDType::from(dtype))
}

/// The gradient of the boxes, `[K, columns]`, in the dtype of sums.
pub fn boxes_gradient(
    gradient: FlexTensor,
    features: FlexTensor,
    regions: &[Region],
    operator: &RegionOperator,
) -> FlexTensor {
    let gradient_of = of_sums!(gradient.dtype(), boxes_gradient_of);
    gradient_of(gradient, features, regions, operator)
}

fn boxes_gradient_of<S: Sum>(
    gradient: FlexTensor,
    features: FlexTensor,
    regions: &[Region],
    operator: &RegionOperator,
) -> FlexTensor {
    let gradient = gradient.to_contiguous();
    let features = with_contiguous_rows(features);
    let [_, _, height, width] = features.layout().shape().dims();
    if let Some(planner) = PointPlanner::new(operator, [height, width]) {
        return points::regions_gradient::<S>(&gradient, &features, regions, &planner);
    }
    let planner = Planner::new(operator, [height, width]);
    let call = boxes::Call::<S> {
        gradient: &gradient,
        features: &features,
        regions,
        planner: &planner,
        box_format: operator.box_format,
    };
    match planner.kind() {
        PlanKind::Weights => boxes::run(call, &PullAverage),
        PlanKind::SampleTaps => boxes::run(call, &PullMaxOfSamples::new(&planner)),
        PlanKind::PixelRanges => unreachable!("bins do not move with a box"),
    }
}
