//! The plans of an image's regions.

use std::ops::Range;

use super::tensors::Number;
use crate::geometry::plan::{self, AxisPlan, ChannelGroup, Coordinate, Planner, Region, hull, pixel_count};

/// The values that come from no pixel, which kernels round to the type of sums.
pub type Values = plan::Values<f64>;

/// The values of an operator.
pub fn values<R: Number>(planner: &Planner<R>) -> Values {
    Values {
        start: planner.values().start.into(),
        outside: planner.operator.value_without_pixels(),
    }
}

/// A region that reads some pixel.
pub struct PlannedGroup<P> {
    /// Its row among all regions.
    pub row: usize,
    /// What a group of its elements reads, along y and along x.
    pub plan: [P; 2],
    /// The rows and columns of the pixels that it reads.
    pub window: [Range<usize>; 2],
}

/// Plans a group of elements of those regions of an image that read some pixel, with derivatives or without.
pub fn planned<R: Coordinate, P: AxisPlan<R>>(
    planner: &Planner<R>,
    regions: &[Region],
    image: usize,
    group: &ChannelGroup,
    slopes: bool,
) -> impl Iterator<Item = PlannedGroup<P>> {
    let regions = regions.iter().enumerate();
    let in_image = regions.filter(move |(_, region)| region.image == image && planner.pools(region));
    let planned = in_image.map(move |(row, region)| {
        let plan = [0, 1].map(|axis| P::make(&planner.run(region, axis, group.elements[axis].clone(), slopes)));
        let window = plan.each_ref().map(AxisPlan::window);
        PlannedGroup { row, plan, window }
    });
    planned.filter(|region| pixel_count(&region.window) > 0)
}

/// The smallest window that contains those of all regions.
pub fn hull_of<P>(regions: &[PlannedGroup<P>]) -> [Range<usize>; 2] {
    [0, 1].map(|axis| hull(regions.iter().map(|region| region.window[axis].clone())))
}
