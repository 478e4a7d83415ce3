//! Pools regions by axis plans.

use burn::tensor::Shape;
use burn_flex::FlexTensor;

use super::groups::{divide, group, wanted_tasks};
use super::kernel::Kernel;
use super::kernels::Average;
use super::own_channels::{compute_own_channels, regions_at_a_time};
use super::pass::compute;
use super::task::{AxisForwardPass, rows_of_a_band};
use crate::backend::flex::drive::{in_parallel, run_tasks, sort_by_key};
use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::lanes::LANES;
use crate::backend::flex::memory::output;
use crate::backend::flex::pixels::Planes;
use crate::backend::flex::planned::{Planned, plan_axes};
use crate::backend::flex::simd::pays_to_stream;
use crate::geometry::plan::{AxisPlan, Coordinate, Planner, Region, Weights};

/// The most elements in the plans of a batch: 4 MiB.
const PLAN_ELEMENTS: usize = 1 << 19;

pub struct PoolInputs<'a, S: Coordinate> {
    /// The output so far, from other levels of a pyramid.
    pub pooled: Option<FlexTensor>,
    /// `[N, C, H, W]`, whose rows are contiguous.
    pub features: &'a FlexTensor,
    pub regions: &'a [Region],
    /// The shape of the output, `[K, channels, P, Q]`.
    pub shape: Shape,
    pub planner: &'a Planner<S>,
}

/// Pools the regions in the operator's range of areas.
pub fn pool<S: Sum, K: Kernel<S>>(inputs: PoolInputs<'_, S>, kernel: &K) -> FlexTensor {
    let batch = (PLAN_ELEMENTS / K::Plan::size(inputs.planner)).max(1);
    in_batches(inputs, kernel, batch, |pass, planned, output, parallel| {
        let groups = group(planned);
        let [channels, channel_elements] = pass.output_size;
        let tasks = divide(
            &groups,
            output,
            channels,
            channel_elements,
            wanted_tasks(parallel),
            LANES,
        );
        run_tasks(tasks, parallel, |task| compute(pass, task));
    })
}

/// The same for elements that read channels of their own.
pub fn pool_own_channels<S: Sum>(inputs: PoolInputs<'_, S>, kernel: &Average<S>) -> FlexTensor {
    let [.., rows, columns] = inputs.shape.dims::<4>();
    let batch = (PLAN_ELEMENTS / Weights::<S>::size(inputs.planner)).max(1);
    let batch = batch.min(regions_at_a_time(rows * columns));
    in_batches(inputs, kernel, batch, |pass, mut planned, output, parallel| {
        sort_by_key(&mut planned, |region| [region.image, 0, 0]);
        compute_own_channels(pass, &planned, output, parallel);
    })
}

/// Plans `batch` regions at a time, and hands them over with their rows of the output.
fn in_batches<S: Sum, K: Kernel<S>>(
    inputs: PoolInputs<'_, S>,
    kernel: &K,
    batch: usize,
    compute: impl Fn(&AxisForwardPass<'_, S, K>, Vec<Planned<[K::Plan; 2]>>, TensorSliceMut<'_, S>, bool),
) -> FlexTensor {
    let [_, channels, rows, columns] = inputs.shape.dims();
    let dtype = inputs.features.dtype();
    let pass = AxisForwardPass {
        kernel,
        features: &Planes::new(inputs.features),
        planner: inputs.planner,
        output_size: [channels, rows * columns],
        band_rows: rows_of_a_band(rows, columns),
        streams: pays_to_stream(inputs.shape.num_elements() * dtype.size()),
    };
    let parallel = in_parallel(inputs.shape.num_elements());
    let is_pooled = |row: usize| inputs.planner.pools(&inputs.regions[row]);
    let mut output = output::<S>(inputs.pooled, &inputs.shape, dtype, &is_pooled, parallel);
    let start = output.layout().start_offset();
    let mut rest = TensorSliceMut::of(&mut output);
    rest.take(start);
    for regions in inputs.regions.chunks(batch) {
        let output = rest.take(regions.len() * channels * rows * columns);
        compute(&pass, plan_axes(regions, inputs.planner, parallel), output, parallel);
    }
    output
}
