//! Pools regions by point plans.

use std::ops::Range;

use burn::tensor::Shape;
use burn_flex::FlexTensor;
use pulp::{Scalar, Simd};

use super::groups::{PoolTask, divide, group, wanted_tasks};
use super::pass::{ForwardPass, compute};
use super::scratch::PoolScratch;
use super::write::write_region;
use crate::backend::flex::drive::{in_parallel, run_tasks};
use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::lanes::LANES;
use crate::backend::flex::memory::{AlignedPixels, output};
use crate::backend::flex::pixels::{LaneChannels, Planes, Rows, Tile};
use crate::backend::flex::planned::plan_points_in_batches;
use crate::backend::flex::simd::{Stream, pays_to_stream};
use crate::geometry::plan::{PointPart, PointPlanner, PointWeights, Region};

/// Pools the regions in the operator's range of areas to an output of a shape. `features` have contiguous rows.
pub fn pool<S: Sum>(
    pooled: Option<FlexTensor>,
    features: &FlexTensor,
    regions: &[Region],
    shape: Shape,
    planner: &PointPlanner,
) -> FlexTensor {
    let [_, channels, rows, columns] = shape.dims();
    let parallel = in_parallel(shape.num_elements());
    let is_pooled = |row: usize| planner.pools::<S>(&regions[row]);
    let mut output = output::<S>(pooled, &shape, features.dtype(), &is_pooled, parallel);
    let start = output.layout().start_offset();
    let mut all = TensorSliceMut::<S>::of(&mut output);
    let pass = PointForwardPass {
        features: &Planes::new(features),
        planner,
        channels,
        elements: rows * columns,
        streams: pays_to_stream(shape.num_elements() * features.dtype().size()),
    };
    plan_points_in_batches(regions, planner, parallel, |planned| {
        let groups = group(planned);
        let tasks = divide(
            &groups,
            all.get(start..start + shape.num_elements()),
            channels,
            rows * columns,
            wanted_tasks(parallel),
            LANES,
        );
        run_tasks(tasks, parallel, |task| compute(&pass, task));
    });
    output
}

struct PointForwardPass<'a, S: Sum> {
    features: &'a Planes<'a, S>,
    planner: &'a PointPlanner,
    /// The channels of the output.
    channels: usize,
    /// The elements of a channel of a region.
    elements: usize,
    /// Whether the output is written past the caches.
    streams: bool,
}

impl<S: Sum> ForwardPass<S> for PointForwardPass<'_, S> {
    type Plan = PointWeights<S>;

    const IN_MORE_LANES: bool = true;

    fn streams(&self) -> bool {
        self.streams
    }

    fn fits(task: &PoolTask<'_, S, Self::Plan>) -> bool {
        task.windows_fit()
    }

    #[inline(always)]
    fn compute_in_lanes<'a, const L: usize>(
        &self,
        simd: impl Simd,
        task: &mut PoolTask<'a, S, Self::Plan>,
        channels: Range<usize>,
        stream: &mut Option<Stream<'a>>,
    ) {
        let mut tile = Tile::<S, L>::default();
        let mut scratch = PoolScratch::<S, L>::default();
        // If elements read channels of their own, regions share no copy.
        let shared = task.shared.filter(|_| self.planner.groups() == 1);
        let most_rows = task.most_rows();
        for start in channels.clone().step_by(L) {
            let count = L.min(channels.end - start);
            if let Some([_, columns]) = shared {
                tile.clear(most_rows, columns.clone());
            }
            for (region, rest) in task.regions.iter().zip(&mut task.outputs) {
                scratch.sums.resize(self.elements);
                scratch.sums.get_mut().fill([S::default(); L]);
                for part in region.plan.parts_with_pixels() {
                    let [rows, columns] = part.window.clone();
                    if shared.is_none() {
                        tile.clear(rows.len(), columns);
                    }
                    let channels = self.planner.channels_of_group(part.group, self.channels);
                    let lanes = LaneChannels::of_outputs(channels, start, count);
                    tile.load(simd, self.features, region.image, &lanes, rows);
                    add_part(&region.plan, part, &tile, scratch.sums.get_mut());
                }
                let output = rest.take(count * self.elements);
                write_region(simd, &mut scratch, output, stream);
            }
        }
    }

    fn compute_one_by_one(&self, mut task: PoolTask<'_, S, Self::Plan>) {
        let mut tile = Tile::<S, 1>::default();
        let mut sums = AlignedPixels::<S, 1>::default();
        sums.resize(self.elements);
        for channel in task.channels.clone() {
            for (region, output) in task.regions.iter().zip(&mut task.outputs) {
                sums.get_mut().fill([S::default()]);
                for part in region.plan.parts_with_pixels() {
                    let [first, step] = self.planner.channels_of_group(part.group, self.channels);
                    if let Some(plane) = self.features.plane(region.image, first + channel * step) {
                        add_part(&region.plan, part, &plane, sums.get_mut());
                    } else if const { S::SUMS_HALVES } {
                        let [rows, columns] = part.window.clone();
                        tile.clear(rows.len(), columns);
                        let lane = LaneChannels::of_outputs([first, step], channel, 1);
                        tile.load(Scalar::new(), self.features, region.image, &lane, rows);
                        add_part(&region.plan, part, &tile, sums.get_mut());
                    }
                }
                let sums = sums.get().as_flattened();
                output.take(self.elements).write(Scalar::new(), sums);
            }
        }
    }
}

/// Adds what elements read of one group of channels.
#[inline(always)]
fn add_part<S: Sum, const L: usize>(
    plan: &PointWeights<S>,
    part: &PointPart,
    rows: &impl Rows<S, L>,
    sums: &mut [[S; L]],
) {
    for read in plan.elements(part) {
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
