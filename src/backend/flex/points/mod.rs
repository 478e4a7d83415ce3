//! Operators whose elements read points: an element is a sum of weighted pixels, whatever their place.
//!
//! - [`forward`]: a task owns channels of some regions.
//! - [`features`]: the gradient of features; a task owns channels of an image.
//! - [`regions`]: the gradient of boxes and offsets; a task owns a region.

mod features;
mod forward;
mod regions;

pub use features::features_gradient;
pub use forward::pool;
pub use regions::regions_gradient;

use std::ops::Range;

use super::drive::filter_map;
use super::engine::Planned;
use super::numbers::Sum;
use crate::geometry::plan::{PointPlanner, PointWeights, Region, hull};

/// A batch is computed once its plans hold more numbers than this, 4 MiB of f32.
const PLANNED: usize = 1 << 20;

/// How many regions are planned at most between two looks at the size of their plans.
const TOGETHER: usize = 32;

/// Plans regions, as many as there is room for, and hands them over; then the next ones. `first` is the number of the
/// first of them.
fn in_batches<S: Sum>(
    regions: &[Region],
    planner: &PointPlanner,
    parallel: bool,
    mut batch: impl FnMut(Vec<Planned<PointWeights<S>>>),
) {
    let mut planned = Vec::new();
    let mut size = 0;
    // A plan may hold a weight for each pixel of the map.
    let together = (PLANNED / planner.map_pixels().max(1)).clamp(1, TOGETHER);
    for (chunk, regions) in regions.chunks(together).enumerate() {
        let further = filter_map(regions, 4, parallel, |number, region| {
            let pools = planner.pools::<S>(region);
            pools.then(|| plan_region(chunk * together + number, region, planner))
        });
        size += further.iter().map(|region| region.plan.size()).sum::<usize>();
        planned.extend(further);
        if size > PLANNED {
            batch(std::mem::take(&mut planned));
            size = 0;
        }
    }
    if !planned.is_empty() {
        batch(planned);
    }
}

fn plan_region<S: Sum>(number: usize, region: &Region, planner: &PointPlanner) -> Planned<PointWeights<S>> {
    let plan = planner.plan::<S>(region, false);
    Planned {
        window: window(&plan),
        plan,
        image: region.image,
        number,
    }
}

/// The rows and columns that any element reads.
fn window<S>(plan: &PointWeights<S>) -> [Range<usize>; 2] {
    [0, 1].map(|axis| hull(plan.parts.iter().map(|part| part.window[axis].clone())))
}
