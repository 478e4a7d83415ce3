//! The way from a call to the tasks of its batches, for all kernels.

use std::ops::Range;

use burn::backend::Flex;
use burn::tensor::DType;
use burn_flex::FlexTensor;
use pulp::{Scalar, Simd};

use super::groups::{PoolTask, divide, group, wanted_tasks};
use super::more_lanes::{channels_of_more_lanes, has_more_lanes};
use super::scratch::PoolScratch;
use crate::backend::RegionCall;
use crate::backend::flex::drive::{in_parallel, run_tasks};
use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::lanes::{self, ChannelWork, LANES, MORE_LANES};
use crate::backend::flex::output::output;
use crate::backend::flex::pixels::{InLanes, OneByOne, Planes, Source};
use crate::backend::flex::planned::{Planned, RegionPlan, plan_in_batches};
use crate::backend::flex::simd::{Stream, pays_to_stream};
use crate::geometry::plan::Planner;

/// How regions are pooled.
pub trait PoolRegions<S: Sum>: Sync {
    /// The plan of a region.
    type Plan: RegionPlan<S>;

    /// Whether it is compiled for more lanes too, which takes time. The kernels of the standard workloads are.
    const IN_MORE_LANES: bool;

    /// The most numbers in the plans of a batch.
    const PLAN_NUMBERS: usize;

    /// Channels are computed one by one if a copy of a window would have more pixels.
    const LARGEST_TILE: usize;

    /// Whether regions can share a copy of their pixels: not if elements read channels of their own.
    fn shares_copies(planner: &Planner<S>) -> bool {
        planner.groups.len() == 1
    }

    /// Computes regions in up to `L` channels, from the pixels of a source to their outputs. It is inlined, or it would
    /// be compiled for SSE.
    #[allow(clippy::too_many_arguments)]
    fn pool<'a, const L: usize>(
        &self,
        simd: impl Simd,
        planner: &Planner<S>,
        regions: &[Planned<Self::Plan>],
        pixels: &mut impl Source<S, L>,
        scratch: &mut PoolScratch<S, L>,
        outputs: impl Iterator<Item = TensorSliceMut<'a, S>>,
        stream: &mut Option<Stream<'a>>,
    );
}

/// Pools the regions in the operator's range of areas into `pooled`, or into a new output. `features` have contiguous
/// rows.
pub fn pool<S: Sum, K: PoolRegions<S>>(
    pooled: Option<FlexTensor>,
    features: &FlexTensor,
    call: &RegionCall<Flex>,
    planner: &Planner<S>,
    kernel: &K,
) -> FlexTensor {
    let pass = ForwardPass::new(features, call, planner, kernel);
    pass.in_batches(pooled, K::PLAN_NUMBERS, |planned, output| {
        let groups = group(planned);
        let tasks = divide(&groups, output, pass.output_size, wanted_tasks(pass.parallel), LANES);
        run_tasks(tasks, pass.parallel, |task| pass.compute(task));
    })
}

/// What all tasks of a call share.
pub struct ForwardPass<'a, S: Sum, K> {
    pub kernel: &'a K,
    pub features: Planes<'a, S>,
    dtype: DType,
    call: &'a RegionCall<Flex>,
    pub planner: &'a Planner<S>,
    /// The channels of the output, and the elements of a channel of a region.
    pub output_size: [usize; 2],
    pub parallel: bool,
    /// Whether the output is written past the caches.
    streams: bool,
}

impl<'p, S: Sum, K: PoolRegions<S>> ForwardPass<'p, S, K> {
    pub fn new(features: &'p FlexTensor, call: &'p RegionCall<Flex>, planner: &'p Planner<S>, kernel: &'p K) -> Self {
        let (shape, dtype) = (call.output_shape(), features.dtype());
        let [_, channels, rows, columns] = shape.dims();
        Self {
            kernel,
            features: Planes::new(features),
            dtype,
            call,
            planner,
            output_size: [channels, rows * columns],
            parallel: in_parallel(shape.num_elements()),
            streams: pays_to_stream(shape.num_elements() * dtype.size()),
        }
    }

    /// Plans batches of about so many numbers, and hands them over with the output.
    pub fn in_batches(
        &self,
        pooled: Option<FlexTensor>,
        plan_numbers: usize,
        compute: impl Fn(Vec<Planned<K::Plan>>, TensorSliceMut<'_, S>),
    ) -> FlexTensor {
        let (shape, regions) = (self.call.output_shape(), self.call.host_regions());
        let is_pooled = |row: usize| self.planner.pools(&regions[row]);
        let mut output = output::<S>(pooled, &shape, self.dtype, &is_pooled, self.parallel);
        let start = output.layout().start_offset();
        let mut elements = TensorSliceMut::of(&mut output);
        plan_in_batches(regions, self.planner, plan_numbers, self.parallel, |planned| {
            compute(planned, elements.get(start..start + shape.num_elements()));
        });
        output
    }

    fn compute(&self, task: PoolTask<'_, S, K::Plan>) {
        let (channels, fits) = (task.channels.len(), task.windows_fit(K::LARGEST_TILE));
        lanes::compute(PoolWork { pass: self, task }, channels, fits);
    }

    /// Computes channels of a task, `L` at a time. The outputs begin with the first of these channels.
    #[inline(always)]
    fn compute_channels<'a, const L: usize>(
        &self,
        simd: impl Simd,
        task: &mut PoolTask<'a, S, K::Plan>,
        channels: Range<usize>,
        mut pixels: impl Source<S, L>,
        stream: &mut Option<Stream<'a>>,
    ) {
        let mut scratch = PoolScratch::default();
        for start in channels.clone().step_by(L) {
            let block = start..(start + L).min(channels.end);
            let count = block.len() * self.output_size[1];
            pixels.turn_to(block);
            let outputs = task.outputs.iter_mut().map(|rest| rest.take(count));
            let (planner, regions) = (self.planner, task.regions);
            self.kernel
                .pool(simd, planner, regions, &mut pixels, &mut scratch, outputs, stream);
        }
    }
}

struct PoolWork<'a, S: Sum, K: PoolRegions<S>> {
    pass: &'a ForwardPass<'a, S, K>,
    task: PoolTask<'a, S, K::Plan>,
}

impl<S: Sum, K: PoolRegions<S>> ChannelWork for PoolWork<'_, S, K> {
    /// First in blocks of more lanes where that pays, then in blocks of fewer.
    #[inline(always)]
    fn in_lanes(self, simd: impl Simd) {
        let Self { pass, mut task } = self;
        let mut stream = if pass.streams { Stream::new(simd) } else { None };
        let shared = task.shared.filter(|_| K::shares_copies(pass.planner));
        let shared = shared.map(|[_, columns]| (task.most_rows(), columns.clone()));
        let Range { mut start, end } = task.channels;
        // A constant, so that code that it excludes is not compiled.
        if const { K::IN_MORE_LANES && has_more_lanes::<S>() } {
            let channels = channels_of_more_lanes(&task);
            start = channels.end;
            let pixels = InLanes::<_, _, MORE_LANES>::new(simd, &pass.features, shared.clone());
            pass.compute_channels(simd, &mut task, channels, pixels, &mut stream);
        }
        let pixels = InLanes::<_, _, LANES>::new(simd, &pass.features, shared);
        pass.compute_channels(simd, &mut task, start..end, pixels, &mut stream);
    }

    #[inline(never)]
    fn one_by_one(self) {
        let Self { pass, mut task } = self;
        let (channels, pixels) = (task.channels.clone(), OneByOne::new(&pass.features));
        pass.compute_channels(Scalar::new(), &mut task, channels, pixels, &mut None);
    }
}
