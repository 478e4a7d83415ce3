//! How a call is divided: regions are planned once, gathered in groups that share pixels, and a task
//! computes a range of channels of a group.
//!
//! Every output element is computed by one task in one order, so results don't depend on how many
//! threads there are.

use std::ops::Range;

use burn::tensor::{Bytes, Shape};
use burn_flex::{FlexTensor, Layout};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::features::Features;
use super::number::{Number, Sum};
use super::output::zeros;
use super::pixels::Pixels;
use super::tile::{LANES, Rows, Tile, room};
use super::transpose::apart;
use crate::backend::host::Region;

/// An operator on one region.
pub trait Kernel<S: Sum>: Sync {
    /// What of a region is common to its channels.
    type Plan: Send + Sync;

    /// The value of a region that names no image.
    fn outside(&self) -> S;

    /// About how many numbers a plan holds.
    fn size_of_plan(&self) -> usize;

    /// Plans a region.
    fn plan(&self, region: &Region<S>) -> Self::Plan;

    /// The rows and the columns of the map that a region reads.
    fn window(&self, plan: &Self::Plan) -> [Range<usize>; 2];

    /// Computes rows of the output, as many elements as `output` has, in `L` channels. `columns` are those
    /// of the window, `along_y` has room for a row of it, and `rows` has its pixels.
    fn compute<const L: usize>(
        &self,
        plan: &Self::Plan,
        output_rows: Range<usize>,
        columns: Range<usize>,
        rows: &impl Rows<S, L>,
        along_y: &mut [[S; L]],
        output: &mut [[S; L]],
    );
}

/// A region, planned.
struct Planned<P> {
    plan: P,
    image: usize,
    /// The row of the output, within its batch.
    number: usize,
    window: [Range<usize>; 2],
}

/// Regions of one image.
struct Group<P> {
    regions: Vec<Planned<P>>,
    /// The pixels that all of them share a copy of; none where each copies its own window.
    shared: Option<[Range<usize>; 2]>,
}

/// A range of channels of a group, with the output of each region in these channels.
struct Task<'a, E, P> {
    regions: &'a [Planned<P>],
    shared: Option<&'a [Range<usize>; 2]>,
    channels: Range<usize>,
    outputs: Vec<&'a mut [E]>,
}

/// A copy of pixels has room for at most this many: 4 MiB of f32.
const LARGEST_TILE: usize = 1 << 17;

/// How many numbers the plans hold that are there at a time, 4 MiB.
const PLANNED: usize = 1 << 19;

/// As many output elements of a region are computed before they go to the output: 512 KiB of f32.
const BAND: usize = 1 << 14;

/// A call of fewer output elements is not worth waking threads for.
const PARALLEL: usize = 1 << 14;

/// Fewer channels than this are computed one by one.
const FEWEST_LANES: usize = 3;

/// Computes the regions of the level: `shape` is that of the output, `[K, C, P, Q]`, and `pooled` is what
/// other levels have left.
pub fn run<E: Number, K: Kernel<E::Sum>>(
    pooled: Option<FlexTensor>,
    features: &FlexTensor,
    regions: &[Region<E::Sum>],
    shape: Shape,
    kernel: &K,
) -> FlexTensor {
    let [_, channels, rows, columns] = shape.dims();
    let of_a_region = channels * rows * columns;
    let batch = (PLANNED / kernel.size_of_plan()).max(1);
    let features = Features::<E>::new(features);

    let parallel = shape.num_elements() >= PARALLEL && rayon::current_num_threads() > 1;
    let mut output = match pooled {
        Some(pooled) => pooled.to_contiguous(),
        None => FlexTensor::new(
            Bytes::from_elems(zeros::<E>(shape.num_elements(), parallel)),
            Layout::contiguous(shape.clone()),
            E::dtype(),
        ),
    };
    let start = output.layout().start_offset();
    let numbers = &mut output.storage_mut::<E>()[start..start + shape.num_elements()];
    let batches = regions
        .chunks(batch)
        .zip(numbers.chunks_mut(batch * of_a_region));
    for (regions, output) in batches {
        let groups = group(plan(regions, kernel, parallel));
        fill_the_rest(regions, output, of_a_region, E::store(kernel.outside()));
        let tasks = divide(&groups, output, channels, rows * columns, parallel);
        let run = |task| {
            Arch::new().dispatch(Vectorized {
                kernel,
                features: &features,
                output_size: [rows, columns],
                task,
            })
        };
        if parallel {
            tasks.into_par_iter().for_each(run);
        } else {
            tasks.into_iter().for_each(run);
        }
    }
    output
}

/// Plans the regions of the level that name an image.
fn plan<S: Sum, K: Kernel<S>>(
    regions: &[Region<S>],
    kernel: &K,
    parallel: bool,
) -> Vec<Planned<K::Plan>> {
    let plan = |(number, region): (usize, &Region<S>)| {
        let image = region.image.filter(|_| region.in_level)?;
        let plan = kernel.plan(region);
        let window = kernel.window(&plan);
        Some(Planned {
            plan,
            image,
            number,
            window,
        })
    };
    if parallel {
        let regions = regions.par_iter().with_min_len(16).enumerate();
        return regions.filter_map(plan).collect();
    }
    regions.iter().enumerate().filter_map(plan).collect()
}

/// Regions that name no image give one value.
fn fill_the_rest<S, E: Copy>(
    regions: &[Region<S>],
    output: &mut [E],
    of_a_region: usize,
    value: E,
) {
    for (region, output) in regions.iter().zip(output.chunks_exact_mut(of_a_region)) {
        if region.in_level && region.image.is_none() {
            output.fill(value);
        }
    }
}

/// Gathers regions of one image, from its top to its bottom, that can share a copy of their pixels; the
/// copy pays where windows overlap so much that together they are larger than what they cover.
fn group<P>(mut regions: Vec<Planned<P>>) -> Vec<Group<P>> {
    regions.sort_by_key(|region| (region.image, region.window[0].start, region.number));
    let mut groups: Vec<(Group<P>, [Range<usize>; 2])> = Vec::new();
    for region in regions {
        if let Some((group, hull)) = groups.last_mut() {
            let together = [0, 1].map(|axis| cover(&hull[axis], &region.window[axis]));
            let same_image = group.regions[0].image == region.image;
            if same_image && room(&together) <= LARGEST_TILE {
                group.regions.push(region);
                *hull = together;
                continue;
            }
        }
        let hull = region.window.clone();
        let regions = vec![region];
        groups.push((
            Group {
                regions,
                shared: None,
            },
            hull,
        ));
    }
    groups
        .into_iter()
        .map(|(mut group, hull)| {
            let windows: usize = group
                .regions
                .iter()
                .map(|region| area(&region.window))
                .sum();
            group.shared = (3 * windows > area(&hull)).then_some(hull);
            group
        })
        .collect()
}

fn area([rows, columns]: &[Range<usize>; 2]) -> usize {
    rows.len() * columns.len()
}

/// The least range that holds both; an empty one doesn't count.
fn cover(left: &Range<usize>, right: &Range<usize>) -> Range<usize> {
    match (left.is_empty(), right.is_empty()) {
        (true, _) => right.clone(),
        (_, true) => left.clone(),
        _ => left.start.min(right.start)..left.end.max(right.end),
    }
}

/// Divides groups into tasks, and the output among them.
fn divide<'a, E, P>(
    groups: &'a [Group<P>],
    output: &'a mut [E],
    channels: usize,
    of_a_channel: usize,
    parallel: bool,
) -> Vec<Task<'a, E, P>> {
    let wanted = if parallel {
        4 * rayon::current_num_threads()
    } else {
        1
    };
    let of_a_group = wanted.div_ceil(groups.len().max(1));
    let blocks = channels.div_ceil(LANES);
    let ranges = of_a_group.min(blocks);
    let of_a_range = blocks.div_ceil(ranges) * LANES;
    let parts = of_a_group.div_ceil(ranges);

    let mut rest: Vec<&mut [E]> = output.chunks_exact_mut(channels * of_a_channel).collect();
    let mut tasks = Vec::new();
    for start in (0..channels).step_by(of_a_range) {
        let channels = start..(start + of_a_range).min(channels);
        for group in groups {
            let of_a_part = group.regions.len().div_ceil(parts);
            for regions in group.regions.chunks(of_a_part) {
                let outputs = regions.iter().map(|region| {
                    let output = std::mem::take(&mut rest[region.number]);
                    let (first, others) = output.split_at_mut(channels.len() * of_a_channel);
                    rest[region.number] = others;
                    first
                });
                tasks.push(Task {
                    regions,
                    shared: group.shared.as_ref(),
                    channels: channels.clone(),
                    outputs: outputs.collect(),
                });
            }
        }
    }
    tasks
}

/// A task for `pulp` to compute with whatever vector instructions the processor has. All that it calls
/// is inlined: only then is it compiled for these instructions.
struct Vectorized<'a, E: Number, K: Kernel<E::Sum>> {
    kernel: &'a K,
    features: &'a Features<'a, E>,
    output_size: [usize; 2],
    task: Task<'a, E, K::Plan>,
}

impl<E: Number, K: Kernel<E::Sum>> WithSimd for Vectorized<'_, E, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        compute(
            simd,
            self.kernel,
            self.features,
            self.output_size,
            self.task,
        );
    }
}

#[inline(always)]
fn compute<E: Number, K: Kernel<E::Sum>>(
    simd: impl Simd,
    kernel: &K,
    features: &Features<'_, E>,
    output_size: [usize; 2],
    task: Task<'_, E, K::Plan>,
) {
    let lone_and_large =
        |region: &Planned<K::Plan>| task.shared.is_none() && room(&region.window) > LARGEST_TILE;
    if task.channels.len() < FEWEST_LANES || task.regions.iter().any(lone_and_large) {
        compute_one_by_one(simd, kernel, features, output_size, task);
    } else {
        compute_in_lanes(simd, kernel, features, output_size, task);
    }
}

/// Several channels at a time, from a copy of the pixels in which they are neighbours.
#[inline(always)]
fn compute_in_lanes<E: Number, K: Kernel<E::Sum>>(
    simd: impl Simd,
    kernel: &K,
    features: &Features<'_, E>,
    output_size: [usize; 2],
    mut task: Task<'_, E, K::Plan>,
) {
    let of_a_channel = output_size[0] * output_size[1];
    let mut tile = Tile::<E::Sum, LANES>::new();
    let mut room = Room::new();
    let rows_of = |region: &Planned<K::Plan>| region.window[0].len();
    let most_rows = task.regions.iter().map(rows_of).max().unwrap_or(0);
    for start in task.channels.clone().step_by(LANES) {
        let channels = start..(start + LANES).min(task.channels.end);
        if let Some([_, columns]) = task.shared {
            tile.clear(most_rows, columns.clone());
        }
        let first = (start - task.channels.start) * of_a_channel;
        let range = first..first + channels.len() * of_a_channel;
        for (region, output) in task.regions.iter().zip(&mut task.outputs) {
            let [rows, columns] = region.window.clone();
            if task.shared.is_none() {
                tile.clear(rows.len(), columns);
            }
            tile.load(simd, features, region.image, channels.clone(), rows);
            let output = &mut output[range.clone()];
            compute_region(simd, kernel, region, &tile, output_size, &mut room, output);
        }
    }
}

/// One channel at a time, from where its pixels are.
#[inline(always)]
fn compute_one_by_one<E: Number, K: Kernel<E::Sum>>(
    simd: impl Simd,
    kernel: &K,
    features: &Features<'_, E>,
    output_size: [usize; 2],
    mut task: Task<'_, E, K::Plan>,
) {
    let of_a_channel = output_size[0] * output_size[1];
    let mut tile = Tile::<E::Sum, 1>::new();
    let mut room = Room::new();
    for (number, channel) in task.channels.clone().enumerate() {
        let range = number * of_a_channel..(number + 1) * of_a_channel;
        for (region, output) in task.regions.iter().zip(&mut task.outputs) {
            let output = &mut output[range.clone()];
            let plane = features.plane(region.image, channel);
            if E::as_sums(&[]).is_some() {
                compute_region(simd, kernel, region, &plane, output_size, &mut room, output);
            } else {
                let [rows, columns] = region.window.clone();
                tile.clear(rows.len(), columns);
                tile.load(simd, features, region.image, channel..channel + 1, rows);
                compute_region(simd, kernel, region, &tile, output_size, &mut room, output);
            }
        }
    }
}

/// What is used again from region to region.
struct Room<S, const L: usize> {
    along_y: Pixels<S, L>,
    sums: Pixels<S, L>,
    /// The sums of one lane after another.
    lanes: Pixels<S, 1>,
}

impl<S: Sum, const L: usize> Room<S, L> {
    fn new() -> Self {
        Self {
            along_y: Pixels::new(),
            sums: Pixels::new(),
            lanes: Pixels::new(),
        }
    }
}

/// A region in up to `L` channels, from rows of its window to where its output is.
#[inline(always)]
fn compute_region<E: Number, K: Kernel<E::Sum>, const L: usize>(
    simd: impl Simd,
    kernel: &K,
    region: &Planned<K::Plan>,
    rows: &impl Rows<E::Sum, L>,
    [height, width]: [usize; 2],
    room: &mut Room<E::Sum, L>,
    output: &mut [E],
) {
    let columns = &region.window[1];
    room.along_y.resize(columns.len());
    let of_a_band = (BAND / width).clamp(1, height);
    for start in (0..height).step_by(of_a_band) {
        let output_rows = start..(start + of_a_band).min(height);
        room.sums.resize(output_rows.len() * width);
        kernel.compute(
            &region.plan,
            output_rows,
            columns.clone(),
            rows,
            room.along_y.get_mut(),
            room.sums.get_mut(),
        );
        // By way of a copy in the nearest cache: lanes written side by side to the output leave every line
        // of it unfinished until the next ones come.
        let count = room.sums.get().len();
        let outputs = output[start * width..].chunks_mut(height * width);
        room.lanes.resize(outputs.len() * count);
        let lanes = room.lanes.get_mut().as_flattened_mut();
        apart(simd, room.sums.get(), lanes);
        for (output, lane) in outputs.zip(lanes.chunks_exact(count)) {
            E::narrow(lane, &mut output[..count]);
        }
    }
}
