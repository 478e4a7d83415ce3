//! Pools regions.
//!
//! Regions are planned, gathered in [`groups`] that share pixels, and divided into tasks. Every output element is
//! computed by one task in one order, so results don't depend on the number of threads.
//!
//! - [`pass`]: from a call to its tasks, and in which channels at a time a task is computed. [`more_lanes`]: which of
//!   them by sixteen.
//! - [`axes`]: a region with axis plans. [`volume`]: one of a volume. [`points`]: a region with a point plan.
//! - [`own_channels`]: the way of position-sensitive operators with axis plans.
//! - [`write`]: elements on their way to the output.

mod axes;
mod groups;
mod more_lanes;
mod own_channels;
mod pass;
mod points;
mod scratch;
mod volume;
mod write;

use burn::backend::Flex;
use burn_flex::FlexTensor;

use super::dtype::Sum;
use super::kernels::{Average, MaxOfPixels, MaxOfSamples};
use super::pixels::with_contiguous_rows;
use crate::backend::RegionCall;
use crate::geometry::plan::{PlanKind, Planner};
use axes::PoolAxes;
use points::PoolPoints;
use volume::PoolVolume;

/// Pools the regions in the operator's range of areas into `pooled`, or into a new output.
pub fn pool<S: Sum>(pooled: Option<FlexTensor>, features: FlexTensor, call: &RegionCall<Flex>) -> FlexTensor {
    let (features, planner) = (
        with_contiguous_rows(features),
        Planner::<S>::new(&call.operator, call.features_shape),
    );
    let values = planner.values();
    let average = PoolAxes(Average {
        outside: values.outside,
    });
    match planner.kind() {
        PlanKind::Points => pass::pool(pooled, &features, call, &planner, &PoolPoints),
        PlanKind::Weights if planner.groups.len() > 1 => {
            own_channels::pool(pooled, &features, call, &planner, &average)
        }
        PlanKind::Weights => pass::pool(pooled, &features, call, &planner, &average),
        _ if planner.groups.len() > 1 => unreachable!("an element that reads channels of its own is an average"),
        PlanKind::SampleTaps => pass::pool(pooled, &features, call, &planner, &PoolAxes(MaxOfSamples(values))),
        PlanKind::PixelRanges => pass::pool(pooled, &features, call, &planner, &PoolAxes(MaxOfPixels(values))),
    }
}

/// Pools regions of volumes `[N, C * D, H, W]`. The output is that of `call`, the operator along the depth.
pub fn pool_volumes<S: Sum>(features: FlexTensor, call: &RegionCall<Flex>, planner: &Planner<S>) -> FlexTensor {
    let (features, values) = (with_contiguous_rows(features), planner.values());
    let average = Average {
        outside: values.outside,
    };
    match planner.kind() {
        PlanKind::Weights => pass::pool(None, &features, call, planner, &PoolVolume(average)),
        PlanKind::PixelRanges => pass::pool(None, &features, call, planner, &PoolVolume(MaxOfPixels(values))),
        kind => unreachable!("no operator of volumes takes {kind:?}"),
    }
}
