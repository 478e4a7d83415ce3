//! How a task of a forward pass is computed: in which channels at a time.

use std::ops::Range;

use pulp::Simd;

use super::groups::PoolTask;
use super::more_lanes::{channels_of_more_lanes, has_more_lanes};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::lanes::{self, ChannelWork, LANES, MORE_LANES};
use crate::backend::flex::simd::Stream;

/// What all tasks of a call share, by axis plans or by point plans.
pub trait ForwardPass<S: Sum>: Sized {
    /// The plan of a region.
    type Plan;

    /// Whether it is compiled for more lanes too, which takes time. The kernels of the standard workloads are.
    const IN_MORE_LANES: bool;

    /// Whether the output is written past the caches.
    fn streams(&self) -> bool;

    /// Whether copies of a task's pixels in interleaved channels are small enough.
    fn fits(task: &PoolTask<'_, S, Self::Plan>) -> bool;

    /// Computes channels of a task, `L` at a time, from a copy of the pixels in which they are neighbours. The outputs
    /// begin with the first of these channels. It is inlined, or it would be compiled for SSE.
    fn compute_in_lanes<'a, const L: usize>(
        &self,
        simd: impl Simd,
        task: &mut PoolTask<'a, S, Self::Plan>,
        channels: Range<usize>,
        stream: &mut Option<Stream<'a>>,
    );

    /// Computes a task from where the pixels are: a window of a large map is not copied.
    fn compute_one_by_one(&self, task: PoolTask<'_, S, Self::Plan>);
}

pub fn compute<S: Sum, P: ForwardPass<S>>(pass: &P, task: PoolTask<'_, S, P::Plan>) {
    let (channels, fits) = (task.channels.len(), P::fits(&task));
    lanes::compute(PoolRegions { pass, task }, channels, fits);
}

struct PoolRegions<'a, S: Sum, P: ForwardPass<S>> {
    pass: &'a P,
    task: PoolTask<'a, S, P::Plan>,
}

impl<S: Sum, P: ForwardPass<S>> ChannelWork for PoolRegions<'_, S, P> {
    /// First in blocks of more lanes where that pays, then in blocks of fewer.
    #[inline(always)]
    fn in_lanes(self, simd: impl Simd) {
        let Self { pass, mut task } = self;
        let mut stream = if pass.streams() { Stream::new(simd) } else { None };
        let Range { mut start, end } = task.channels;
        // A constant, so that code that it excludes is not compiled.
        if const { P::IN_MORE_LANES && has_more_lanes::<S>() } {
            let channels = channels_of_more_lanes(&task);
            start = channels.end;
            pass.compute_in_lanes::<MORE_LANES>(simd, &mut task, channels, &mut stream);
        }
        pass.compute_in_lanes::<LANES>(simd, &mut task, start..end, &mut stream);
    }

    #[inline(never)]
    fn one_by_one(self) {
        self.pass.compute_one_by_one(self.task);
    }
}
