//! Pools a region by its point plan.

use pulp::Simd;

use super::pass::PoolRegions;
use super::scratch::PoolScratch;
use super::write::write_region;
use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::pixels::{LARGEST_TILE, Rows, Source};
use crate::backend::flex::planned::Planned;
use crate::backend::flex::simd::Stream;
use crate::geometry::plan::{ChannelGroup, Planner, PointWeights, pixel_count};

pub struct PoolPoints;

impl<S: Sum> PoolRegions<S> for PoolPoints {
    type Plan = PointWeights<S>;

    const IN_MORE_LANES: bool = true;

    /// 4 MiB of f32.
    const PLAN_NUMBERS: usize = 1 << 20;

    const LARGEST_TILE: usize = LARGEST_TILE;

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
        for (region, output) in regions.iter().zip(outputs) {
            scratch.sums.resize(height * width);
            scratch.sums.get_mut().fill([S::default(); L]);
            for (group, window) in planner.groups.iter().zip(&region.plan.windows) {
                if pixel_count(window) > 0 {
                    let rows = pixels.load(region.image, group, window);
                    add_group(&region.plan, group, &rows, scratch.sums.get_mut());
                }
            }
            write_region(simd, scratch.sums.get(), &mut scratch.writing, output, stream);
        }
    }
}

/// Adds what elements read of one group of channels.
#[inline(always)]
fn add_group<S: Sum, const L: usize>(
    plan: &PointWeights<S>,
    group: &ChannelGroup,
    rows: &impl Rows<S, L>,
    sums: &mut [[S; L]],
) {
    for read in plan.elements(group) {
        let mut total = sums[read.element];
        let mut weights = &plan.weights[read.weights];
        for span in read.spans {
            let (span_weights, rest) = weights.split_at(span.count as usize);
            weights = rest;
            for (&weight, pixel) in span_weights.iter().zip(rows.row(span.row as usize, span.columns())) {
                S::add_weighted(&mut total, weight, pixel);
            }
        }
        sums[read.element] = total;
    }
}
