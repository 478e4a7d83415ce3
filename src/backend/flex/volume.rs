//! Calls on volumes: both of their operators at once, so that a region's slices stay in the nearest caches, and only
//! those that it reads are pooled.

use burn::backend::Flex;
use burn_flex::FlexTensor;

use super::dtype::Sum;
use super::features_gradient::volumes_gradient;
use super::forward::pool_volumes;
use crate::backend::{HostRegions, RegionCall};
use crate::geometry::plan::{Planner, Region};

/// The most elements of a region in a channel: a task holds them in 8 channels, and a copy, 8 MiB of f32.
const ELEMENTS: usize = 1 << 17;

/// Whether the kernels for volumes compute a call.
pub fn has_kernels(depths: &RegionCall<Flex>) -> bool {
    depths.operator.output_size.into_iter().product::<usize>() <= ELEMENTS
}

pub fn pool<S: Sum>(features: FlexTensor, slices: RegionCall<Flex>, depths: RegionCall<Flex>) -> FlexTensor {
    let (planner, regions) = planned::<S>(&slices, &depths);
    let call = RegionCall { regions, ..depths };
    pool_volumes(features, &call, &planner)
}

pub fn gradient<S: Sum>(gradient: FlexTensor, slices: RegionCall<Flex>, depths: RegionCall<Flex>) -> FlexTensor {
    let (planner, regions) = planned::<S>(&slices, &depths);
    let call = RegionCall { regions, ..slices };
    volumes_gradient(gradient, &call, &planner)
}

/// The planner of both operators, and the regions with z1 and z2.
fn planned<S: Sum>(slices: &RegionCall<Flex>, depths: &RegionCall<Flex>) -> (Planner<S>, Option<HostRegions>) {
    let planner = Planner::of_volumes(
        [&slices.operator, &depths.operator],
        [slices.features_shape, depths.features_shape],
    );
    let both = slices.host_regions().iter().zip(depths.host_regions().iter());
    let region = both.map(|(slice, depth)| Region {
        rest: [depth.corners[1], depth.corners[3]].into(),
        ..slice.clone()
    });
    (planner, Some(region.collect()))
}
