//! Pools regions.
//!
//! Regions are planned, gathered in [`groups`] that share pixels, and divided into tasks. Every output element is
//! computed by one task in one order, so results don't depend on the number of threads.
//!
//! - [`axis`]: operators with axis plans; [`task`] computes a task with a [`kernels`] module for each kind of plan, and
//!   [`own_channels`] is the way of position-sensitive operators.
//! - [`points`]: operators with point plans.
//! - [`pass`]: in which channels at a time a task is computed, for both. [`more_lanes`]: which of them by sixteen.
//! - [`write`]: elements on their way to the output.

mod axis;
mod groups;
mod kernel;
pub mod kernels;
mod more_lanes;
mod own_channels;
mod pass;
mod points;
mod scratch;
mod task;
mod write;

use burn::backend::Flex;
use burn_flex::FlexTensor;

pub use kernel::{Kernel, Window};
pub use task::rows_of_a_band;

use super::dtype::{Sum, of_sums};
use super::pixels::with_contiguous_rows;
use crate::backend::RegionCall;
use crate::geometry::plan::{PlanKind, Planner, PointPlanner};
use kernels::{Average, MaxOfPixels, MaxOfSamples};

/// Pools the regions in the operator's range of areas into `pooled`, or into a new output.
pub fn pool(pooled: Option<FlexTensor>, features: FlexTensor, call: &RegionCall<Flex>) -> FlexTensor {
    let pool = of_sums!(features.dtype(), pool_in_sums);
    pool(pooled, features, call)
}

fn pool_in_sums<S: Sum>(pooled: Option<FlexTensor>, features: FlexTensor, call: &RegionCall<Flex>) -> FlexTensor {
    let (regions, operator, shape) = (call.host_regions(), &call.operator, call.output_shape());
    let features = with_contiguous_rows(features);
    let [_, _, height, width] = call.features_shape;
    if let Some(planner) = PointPlanner::new(operator, [height, width]) {
        return points::pool::<S>(pooled, &features, regions, shape, &planner);
    }
    let planner = Planner::<S>::new(operator, [height, width]);
    let inputs = axis::PoolInputs {
        pooled,
        features: &features,
        regions,
        shape,
        planner: &planner,
    };
    match planner.kind() {
        PlanKind::Weights if planner.is_one_run() => axis::pool(inputs, &Average::new(&planner)),
        PlanKind::Weights => axis::pool_own_channels(inputs, &Average::new(&planner)),
        _ if !planner.is_one_run() => unreachable!("an element that reads channels of its own is an average"),
        PlanKind::SampleTaps => axis::pool(inputs, &MaxOfSamples::new(&planner)),
        PlanKind::PixelRanges => axis::pool(inputs, &MaxOfPixels::new(&planner)),
    }
}
