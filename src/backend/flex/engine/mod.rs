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

pub use groups::{Planned, Task, divide, group, wanted_tasks};
pub use kernel::{Kernel, Window};
pub use task::{FEWEST_LANES, WriteElements, rows_of_a_band};

use super::drive::{filter_map, in_parallel, run_tasks, sort_by_key};
use super::kernels::Average;
use super::numbers::{NumbersMut, Sum};
use super::pixels::{Features, LANES, output, pays_to_stream};
use crate::geometry::plan::{AxisPlan, Coordinate, Planner, Region, Weights};
use own_channels::{compute_own_channels, regions_at_a_time};
use task::{Work, compute};

/// How many numbers the plans hold that are there at a time, 4 MiB.
pub const PLANNED: usize = 1 << 19;

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
pub fn run<S: Sum, K: Kernel<S>>(call: Call<'_, S>, kernel: &K) -> FlexTensor {
    let batch = (PLANNED / K::Plan::size(call.planner)).max(1);
    in_batches(call, kernel, batch, |work, planned, output, parallel| {
        let groups = group(planned);
        let [channels, of_a_channel] = work.output_size;
        let tasks = divide(&groups, output, channels, of_a_channel, wanted_tasks(parallel), LANES);
        run_tasks(tasks, parallel, |task| compute(work, task));
    })
}

/// The same where elements read channels of their own.
pub fn run_own_channels<S: Sum>(call: Call<'_, S>, kernel: &Average<S>) -> FlexTensor {
    let [.., rows, columns] = call.shape.dims::<4>();
    let batch = (PLANNED / Weights::<S>::size(call.planner)).max(1);
    let batch = batch.min(regions_at_a_time(rows * columns));
    in_batches(call, kernel, batch, |work, mut planned, output, parallel| {
        sort_by_key(&mut planned, |region| [region.image, 0, 0]);
        compute_own_channels(work, &planned, output, parallel);
    })
}

/// Plans `batch` regions at a time, and hands them over with their part of the output.
fn in_batches<S: Sum, K: Kernel<S>>(
    call: Call<'_, S>,
    kernel: &K,
    batch: usize,
    compute: impl Fn(&Work<'_, S, K>, Vec<Planned<[K::Plan; 2]>>, NumbersMut<'_, S>, bool),
) -> FlexTensor {
    let [_, channels, rows, columns] = call.shape.dims();
    let dtype = call.features.dtype();
    let work = Work {
        kernel,
        features: &Features::new(call.features),
        planner: call.planner,
        output_size: [channels, rows * columns],
        of_a_band: rows_of_a_band(rows, columns),
        streams: pays_to_stream(call.shape.num_elements() * dtype.size()),
    };
    let parallel = in_parallel(call.shape.num_elements());
    let is_pooled = |row: usize| call.planner.pools(&call.regions[row]);
    let mut output = output::<S>(call.pooled, &call.shape, dtype, &is_pooled, parallel);
    let start = output.layout().start_offset();
    let mut numbers = NumbersMut::of(&mut output);
    numbers.take(start);
    for regions in call.regions.chunks(batch) {
        let output = numbers.take(regions.len() * channels * rows * columns);
        compute(&work, plan(regions, call.planner, parallel), output, parallel);
    }
    output
}

/// Plans the regions that the operator pools.
pub fn plan<S: Coordinate, P: AxisPlan<S>>(
    regions: &[Region],
    planner: &Planner<S>,
    parallel: bool,
) -> Vec<Planned<[P; 2]>> {
    filter_map(regions, 16, parallel, |number, region| {
        planner.pools(region).then(|| planned(number, region, planner))
    })
}

fn planned<S: Coordinate, P: AxisPlan<S>>(number: usize, region: &Region, planner: &Planner<S>) -> Planned<[P; 2]> {
    let sizes = planner.output_size();
    let plan: [P; 2] = [0, 1].map(|axis| P::make(planner, region, axis, 0..sizes[axis]));
    Planned {
        window: plan.each_ref().map(AxisPlan::window),
        plan,
        image: region.image,
        number,
    }
}
