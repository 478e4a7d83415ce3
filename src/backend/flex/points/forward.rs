//! Pools regions: a task owns a range of channels of some regions.

use burn::tensor::Shape;
use burn_flex::FlexTensor;
use pulp::{Arch, Scalar, Simd, WithSimd};

use super::in_batches;
use crate::backend::flex::drive::{in_parallel, run_tasks};
use crate::backend::flex::engine::{FEWEST_LANES, Planned, Task, WriteElements, divide, group, wanted_tasks};
use crate::backend::flex::kernels::add;
use crate::backend::flex::numbers::{NumbersMut, Sum, has_lanes};
use crate::backend::flex::pixels::{
    AlignedPixels, Features, LANES, LARGEST_TILE, LaneChannels, Rows, Tile, output, tile_capacity,
};
use crate::geometry::plan::{PointPart, PointPlanner, PointWeights, Region, pixel_count};

/// Pools the regions in the operator's range of areas. `features` have contiguous rows, and `shape` is that of the
/// output.
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
    let mut numbers = NumbersMut::<S>::of(&mut output);
    let work = Work {
        features: &Features::new(features),
        planner,
        channels,
        elements: rows * columns,
    };
    in_batches(regions, planner, parallel, |planned| {
        let groups = group(planned);
        let tasks = divide(
            &groups,
            numbers.get(start..start + shape.num_elements()),
            channels,
            rows * columns,
            wanted_tasks(parallel),
            LANES,
        );
        run_tasks(tasks, parallel, |task| compute(&work, task));
    });
    output
}

/// What all tasks of a call share.
struct Work<'a, S: Sum> {
    features: &'a Features<'a, S>,
    planner: &'a PointPlanner,
    /// The channels of the output.
    channels: usize,
    /// The elements of a channel of a region.
    elements: usize,
}

fn compute<S: Sum>(work: &Work<'_, S>, task: Task<'_, S, PointWeights<S>>) {
    let large = |region: &Planned<PointWeights<S>>| tile_capacity(&region.window) > LARGEST_TILE;
    if task.channels.len() < FEWEST_LANES || task.regions.iter().any(large) {
        compute_one_by_one(work, task);
    } else {
        Arch::new().dispatch(Vectorized { work, task });
    }
}

/// What `pulp` is handed. All that it calls is inlined: only then is it compiled for these instructions.
struct Vectorized<'a, S: Sum> {
    work: &'a Work<'a, S>,
    task: Task<'a, S, PointWeights<S>>,
}

impl<S: Sum> WithSimd for Vectorized<'_, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        if const { has_lanes::<V>() } {
            compute_in_lanes(simd, self.work, self.task);
        } else {
            compute_one_by_one(self.work, self.task);
        }
    }
}

/// Several channels at a time, from a copy of the pixels in which they are neighbours.
#[inline(always)]
fn compute_in_lanes<S: Sum>(simd: impl Simd, work: &Work<'_, S>, mut task: Task<'_, S, PointWeights<S>>) {
    let mut tile = Tile::<S, LANES>::new();
    let mut sums = AlignedPixels::<S, LANES>::new();
    let mut lanes = AlignedPixels::<S, 1>::new();
    // Where elements read channels of their own, no two regions share a copy of any.
    let shared = task.shared.filter(|_| work.planner.groups() == 1);
    let most_rows = task.regions.iter().map(|region| region.window[0].len()).max();
    for start in task.channels.clone().step_by(LANES) {
        let count = LANES.min(task.channels.end - start);
        if let Some([_, columns]) = shared {
            tile.clear(most_rows.unwrap_or(0), columns.clone());
        }
        for (region, output) in task.regions.iter().zip(&mut task.outputs) {
            sums.resize(work.elements);
            sums.get_mut().fill([S::default(); LANES]);
            for part in &region.plan.parts {
                let [rows, columns] = part.window.clone();
                if pixel_count(&part.window) == 0 {
                    continue;
                }
                if shared.is_none() {
                    tile.clear(rows.len(), columns);
                }
                let channels = work.planner.channels_of_group(part.group, work.channels);
                tile.load(
                    simd,
                    work.features,
                    region.image,
                    &lane_channels(channels, start, count),
                    rows,
                );
                add_part(&region.plan, part, &tile, sums.get_mut());
            }
            simd.vectorize(WriteElements {
                elements: sums.get(),
                lanes: &mut lanes,
                first: 0,
                of_a_channel: work.elements,
                output: &mut output.take(count * work.elements),
            });
        }
    }
}

/// One channel at a time, from where its pixels are: a window of a large map is not copied. So few numbers gain little
/// from vectors: it is compiled without.
#[inline(never)]
fn compute_one_by_one<S: Sum>(work: &Work<'_, S>, mut task: Task<'_, S, PointWeights<S>>) {
    let mut tile = Tile::<S, 1>::new();
    let mut sums = AlignedPixels::<S, 1>::new();
    sums.resize(work.elements);
    for channel in task.channels.clone() {
        for (region, output) in task.regions.iter().zip(&mut task.outputs) {
            sums.get_mut().fill([S::default()]);
            for part in region.plan.parts.iter().filter(|part| pixel_count(&part.window) > 0) {
                let [first, step] = work.planner.channels_of_group(part.group, work.channels);
                if let Some(plane) = work.features.plane(region.image, first + channel * step) {
                    add_part(&region.plan, part, &plane, sums.get_mut());
                } else if const { S::SUMS_HALVES } {
                    let [rows, columns] = part.window.clone();
                    tile.clear(rows.len(), columns);
                    let lane = lane_channels([first, step], channel, 1);
                    tile.load(Scalar::new(), work.features, region.image, &lane, rows);
                    add_part(&region.plan, part, &tile, sums.get_mut());
                }
            }
            let sums = sums.get().as_flattened();
            output.take(work.elements).write(Scalar::new(), sums);
        }
    }
}

/// The input channels of output channels from `start` on, for those of a group.
pub fn lane_channels([first, step]: [usize; 2], start: usize, count: usize) -> LaneChannels {
    LaneChannels {
        first: first + start * step,
        step,
        count,
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
            let (of_span, rest) = weights.split_at(span.count as usize);
            weights = rest;
            for (&weight, pixel) in of_span.iter().zip(rows.row(span.row as usize, span.columns())) {
                add(&mut total, weight, pixel);
            }
        }
        sums[read.element] = total;
    }
}
