//! Pools regions of a volume: one slice after another with the kernel of its kind. Each is added to the output.

use pulp::Simd;

use super::axes::PoolAxes;
use super::pass::PoolRegions;
use super::scratch::PoolScratch;
use super::write::write_region;
use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::kernels::{AlongDepth, Window};
use crate::backend::flex::pixels::Source;
use crate::backend::flex::planned::{Planned, VolumePlan, of_volumes};
use crate::backend::flex::simd::Stream;
use crate::geometry::plan::{ChannelGroup, Planner, hull};

/// The most pixels of the output that are summed at a time, unless a region has more: 1 MiB of f32 in 8 channels.
const PIXELS: usize = 1 << 15;

/// The kernel of a kind of axis plan, on volumes.
pub struct PoolVolume<K>(pub K);

impl<S: Sum, K: AlongDepth<S>> PoolRegions<S> for PoolVolume<K> {
    type Plan = VolumePlan<K::Plan>;

    /// More lanes take time to compile, and only `nodules` of benches/volumes gained from them: a sixth.
    const IN_MORE_LANES: bool = false;

    const PLAN_NUMBERS: usize = <PoolAxes<K> as PoolRegions<S>>::PLAN_NUMBERS;

    const LARGEST_TILE: usize = <PoolAxes<K> as PoolRegions<S>>::LARGEST_TILE;

    /// One slice is copied at a time, for all regions that are summed together.
    fn shares_copies(planner: &Planner<S>) -> bool {
        2 * elements(planner) <= PIXELS
    }

    #[inline(always)]
    fn pool<'a, const L: usize>(
        &self,
        simd: impl Simd,
        planner: &Planner<S>,
        regions: &[Planned<Self::Plan>],
        pixels: &mut impl Source<S, L>,
        scratch: &mut PoolScratch<S, L>,
        mut outputs: impl Iterator<Item = TensorSliceMut<'a, S>>,
        stream: &mut Option<Stream<'a>>,
    ) {
        let of_region = elements(planner);
        let times = (regions.len() * of_region).div_ceil(PIXELS);
        // Each time copies the pixels of slices anew.
        for regions in regions.chunks(regions.len().div_ceil(times)) {
            scratch.volumes.resize(regions.len() * of_region);
            scratch.volumes.get_mut().fill([self.0.start(); L]);
            let slices = hull(regions.iter().map(|region| region.plan.window.clone()));
            for slice in &planner.groups[slices] {
                pixels.restart();
                self.add_slice(simd, slice, regions, pixels, scratch);
            }
            let sums = scratch.volumes.get_mut().chunks_exact_mut(of_region);
            for ((region, sums), output) in regions.iter().zip(sums).zip(&mut outputs) {
                self.0.end(&region.plan.depth, sums);
                write_region(simd, sums, &mut scratch.writing, output, stream);
            }
        }
    }
}

/// The elements of a region in a channel.
fn elements<S: Sum>(planner: &Planner<S>) -> usize {
    of_volumes(planner).operator.output_size.iter().product()
}

impl<K> PoolVolume<K> {
    /// Adds a slice to the sums of the regions that read it.
    #[inline(always)]
    fn add_slice<S: Sum, const L: usize>(
        &self,
        simd: impl Simd,
        slice: &ChannelGroup,
        regions: &[Planned<VolumePlan<K::Plan>>],
        pixels: &mut impl Source<S, L>,
        scratch: &mut PoolScratch<S, L>,
    ) where
        K: AlongDepth<S>,
    {
        let of_region = scratch.volumes.get().len() / regions.len();
        let sums = scratch.volumes.get_mut().chunks_exact_mut(of_region);
        for (region, sums) in regions.iter().zip(sums) {
            if !region.plan.reads(slice) {
                continue;
            }
            let columns = region.window[1].clone();
            scratch.along_y.resize(K::pixels_along_y(columns.len()));
            scratch.sums.resize(slice.indices().len());
            let rows = &pixels.load(region.image, slice, &region.window);
            let (plan, elements) = (region.plan.slices.each_ref(), slice.elements.clone());
            let (along_y, pooled) = (scratch.along_y.get_mut(), scratch.sums.get_mut());
            self.0
                .compute(simd, plan, elements, Window { rows, columns }, along_y, pooled);
            self.0.add_slice(&region.plan.depth, slice.index, pooled, sums);
        }
    }
}
