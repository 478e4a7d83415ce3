//! A call on Flex: regions are planned once, gathered in groups that share pixels, and divided into tasks.
//!
//! Every output element is computed by one task in one order, so results don't depend on how many
//! threads there are.

mod groups;
mod kernel;
mod own_channels;
mod scratch;
mod task;

use burn::tensor::Shape;
use burn_flex::FlexTensor;
use rayon::prelude::*;

pub use groups::{Planned, Task, divide, group, run_tasks, wanted_tasks};
pub use kernel::{Kernel, Window};
pub use task::{FEWEST_LANES, rows_of_a_band};

use super::numbers::Number;
use super::pixels::{Features, LANES, output, pays_to_stream};
use crate::geometry::plan::{AxisPlan, Coordinate, Planner, Region};
use own_channels::{compute_own_channels, regions_at_a_time};
use task::{Work, compute};

/// How many numbers the plans hold that are there at a time, 4 MiB.
pub const PLANNED: usize = 1 << 19;

/// A call of fewer output elements is not worth waking threads for.
const PARALLEL: usize = 1 << 14;

/// Whether a call of so many output elements runs on several threads.
pub fn in_parallel(elements: usize) -> bool {
    elements >= PARALLEL && rayon::current_num_threads() > 1
}

/// What is computed.
pub struct Call<'a, S: Coordinate> {
    /// What other levels of a pyramid have left.
    pub pooled: Option<FlexTensor>,
    /// `[N, C, H, W]`, whose rows are contiguous.
    pub features: &'a FlexTensor,
    pub regions: &'a [Region],
    /// The shape of the output, `[K, channels, P, Q]`.
    pub shape: Shape,
    pub planner: &'a Planner<S>,
}

/// Pools the regions in the operator's range of areas.
pub fn run<E: Number, K: Kernel<E::Sum>>(call: Call<'_, E::Sum>, kernel: &K) -> FlexTensor {
    let [_, channels, rows, columns] = call.shape.dims();
    let of_a_region = channels * rows * columns;
    let mut batch = (PLANNED / K::Plan::size(call.planner)).max(1);
    if !call.planner.is_one_run() {
        batch = batch.min(regions_at_a_time(rows * columns));
    }
    let work = Work {
        kernel,
        features: &Features::<E>::new(call.features),
        planner: call.planner,
        of_a_band: rows_of_a_band(rows, columns),
        streams: pays_to_stream(call.shape.num_elements() * size_of::<E>()),
    };

    let parallel = in_parallel(call.shape.num_elements());
    let is_pooled = call.regions.iter().map(|region| call.planner.pools(region));
    let mut output = output::<E>(call.pooled, &call.shape, is_pooled, parallel);
    let start = output.layout().start_offset();
    let numbers = &mut output.storage_mut::<E>()[start..start + call.shape.num_elements()];
    let batches = call.regions.chunks(batch).zip(numbers.chunks_mut(batch * of_a_region));
    for (regions, output) in batches {
        let mut planned = plan(regions, call.planner, parallel);
        if !call.planner.is_one_run() {
            planned.sort_by_key(|region| region.image);
            compute_own_channels(&work, &planned, output, channels, parallel);
            continue;
        }
        let groups = group(planned);
        let tasks = divide(&groups, output, channels, rows * columns, wanted_tasks(parallel), LANES);
        run_tasks(tasks, parallel, |task| compute(&work, task));
    }
    output
}

/// Plans the regions that the operator pools.
pub fn plan<S: Coordinate, P: AxisPlan<S>>(
    regions: &[Region],
    planner: &Planner<S>,
    parallel: bool,
) -> Vec<Planned<[P; 2]>> {
    let plan = |(number, region): (usize, &Region)| planner.pools(region).then(|| planned(number, region, planner));
    if parallel {
        let regions = regions.par_iter().with_min_len(16).enumerate();
        return regions.filter_map(plan).collect();
    }
    regions.iter().enumerate().filter_map(plan).collect()
}

fn planned<S: Coordinate, P: AxisPlan<S>>(number: usize, region: &Region, planner: &Planner<S>) -> Planned<[P; 2]> {
    let sizes = planner.output_size();
    let plan: [P; 2] = [0, 1].map(|axis| planner.axis(region, axis, 0..sizes[axis]));
    Planned {
        window: plan.each_ref().map(AxisPlan::window),
        plan,
        image: region.image,
        number,
    }
}
