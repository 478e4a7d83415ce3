//! Pools a region by axis plans, with the kernel of their kind.

use pulp::Simd;

use super::pass::PoolRegions;
use super::scratch::PoolScratch;
use super::write::{WriteElements, write_region};
use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::kernels::{Kernel, Window};
use crate::backend::flex::lanes::BAND;
use crate::backend::flex::pixels::Source;
use crate::backend::flex::planned::Planned;
use crate::backend::flex::simd::Stream;
use crate::geometry::plan::Planner;

/// The kernel of a kind of axis plan.
pub struct PoolAxes<K>(pub K);

impl<S: Sum, K: Kernel<S>> PoolRegions<S> for PoolAxes<K> {
    type Plan = [K::Plan; 2];

    const IN_MORE_LANES: bool = K::IN_MORE_LANES;

    /// 4 MiB.
    const PLAN_NUMBERS: usize = 1 << 19;

    /// Windows of any size are copied.
    const LARGEST_TILE: usize = usize::MAX;

    #[inline(always)]
    fn pool<'a, const L: usize>(
        &self,
        simd: impl Simd,
        planner: &Planner<S>,
        regions: &[Planned<Self::Plan>],
        pixels: &mut impl Source<S, L>,
        scratch: &mut PoolScratch<S, L>,
        outputs: impl Iterator<Item = TensorSliceMut<'a, S>>,
        stream: &mut Option<Stream<'a>>,
    ) {
        let [height, width] = planner.operator.output_size;
        let group = &planner.groups[0];
        for (region, mut output) in regions.iter().zip(outputs) {
            let columns = &region.window[1];
            let rows = &pixels.load(region.image, group, &region.window);
            scratch.along_y.resize(K::pixels_along_y(columns.len()));
            for band in group.bands(BAND) {
                scratch.sums.resize(band.indices().len());
                self.0.compute(
                    simd,
                    region.plan.each_ref(),
                    band.elements.clone(),
                    Window {
                        rows,
                        columns: columns.clone(),
                    },
                    scratch.along_y.get_mut(),
                    scratch.sums.get_mut(),
                );
                if band.elements[0].len() == height {
                    write_region(simd, scratch.sums.get(), &mut scratch.writing, output, stream);
                    break;
                }
                simd.vectorize(WriteElements {
                    elements: scratch.sums.get(),
                    lanes: &mut scratch.writing.lanes,
                    first: band.indices().start,
                    channel_elements: height * width,
                    output: &mut output,
                });
            }
        }
    }
}
