//! Regions and their plans, made on several threads.

use std::ops::Range;

use super::drive::filter_map;
use super::dtype::Sum;
use crate::geometry::plan::{AxisPlan, Coordinate, Planner, PointPlanner, PointWeights, Region, hull};

/// A region and its plan.
pub struct Planned<P> {
    /// What its elements read: a point plan, or the axis plans of y and of x.
    pub plan: P,
    pub image: usize,
    /// Its row among the regions that were planned.
    pub row: usize,
    pub window: [Range<usize>; 2],
}

/// The axis plans of the regions that the operator pools.
pub fn plan_axes<S: Coordinate, P: AxisPlan<S>>(
    regions: &[Region],
    planner: &Planner<S>,
    parallel: bool,
) -> Vec<Planned<[P; 2]>> {
    let sizes = planner.output_size();
    filter_map(regions, 16, parallel, |row, region| {
        planner.pools(region).then(|| {
            let plan: [P; 2] = [0, 1].map(|axis| P::make(&planner.run(region, axis, 0..sizes[axis], false)));
            Planned {
                window: plan.each_ref().map(AxisPlan::window),
                plan,
                image: region.image,
                row,
            }
        })
    })
}

/// The most weights in the plans of a batch, but for the regions that were planned last: 4 MiB of f32.
const PLAN_WEIGHTS: usize = 1 << 20;

/// The most regions that are planned before the size of the batch is looked at.
const CHUNK: usize = 32;

/// Plans the points of regions, and hands them over in batches. Their rows are those among all `regions`.
pub fn plan_points_in_batches<S: Sum>(
    regions: &[Region],
    planner: &PointPlanner,
    parallel: bool,
    mut batch: impl FnMut(Vec<Planned<PointWeights<S>>>),
) {
    let mut planned = Vec::new();
    let mut size = 0;
    // A plan may hold a weight for each pixel of the map.
    let chunk_size = (PLAN_WEIGHTS / planner.map_pixels().max(1)).clamp(1, CHUNK);
    for (chunk, regions) in regions.chunks(chunk_size).enumerate() {
        let further = filter_map(regions, 4, parallel, |row, region| {
            planner.pools::<S>(region).then(|| {
                let plan = planner.plan::<S>(region, false);
                Planned {
                    window: [0, 1].map(|axis| hull(plan.parts.iter().map(|part| part.window[axis].clone()))),
                    plan,
                    image: region.image,
                    row: chunk * chunk_size + row,
                }
            })
        });
        size += further.iter().map(|region| region.plan.size()).sum::<usize>();
        planned.extend(further);
        if size > PLAN_WEIGHTS {
            batch(std::mem::take(&mut planned));
            size = 0;
        }
    }
    if !planned.is_empty() {
        batch(planned);
    }
}

/// The input channel that elements of a run read for output channel 0, and the stride to that of the next one.
#[inline(always)]
pub fn channels_of_run<S: Coordinate>(planner: &Planner<S>, elements: &[Range<usize>; 2]) -> [usize; 2] {
    let (map, [height, width]) = (planner.channel_map(), planner.output_size());
    let first = map.first_channel(elements.each_ref().map(|range| range.start), width);
    [first, map.input_channels(height * width)]
}

/// The indices of elements, row after row. They are whole rows of an output of this width, or one element.
#[inline(always)]
pub fn element_indices([rows, columns]: [&Range<usize>; 2], width: usize) -> Range<usize> {
    rows.start * width + columns.start..(rows.end - 1) * width + columns.end
}
