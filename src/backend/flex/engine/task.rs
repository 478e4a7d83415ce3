//! A task: a range of channels of some regions, computed with vector instructions.

use std::ops::Range;

use pulp::{Arch, Scalar, Simd, WithSimd};

use super::groups::{Planned, Task};
use super::kernel::{Kernel, Window};
use super::scratch::Scratch;
use crate::backend::flex::numbers::{NumbersMut, Sum, deinterleave, has_lanes};
use crate::backend::flex::pixels::{
    AlignedPixels, Features, LANES, LARGEST_TILE, LaneChannels, MORE_LANES, Rows, Stream, Tile, tile_capacity,
};
use crate::geometry::plan::{Planner, pixel_count};

/// As many output elements of a region are computed before they go to the output: 512 KiB of f32.
pub const BAND: usize = 1 << 14;

/// How many rows of such an output are computed before they go there.
pub fn rows_of_a_band(rows: usize, columns: usize) -> usize {
    (BAND / columns).clamp(1, rows)
}

/// Fewer channels than this are computed one by one.
pub const FEWEST_LANES: usize = 3;

/// The most pixels that a tile of [`MORE_LANES`] holds: 640 KiB of f32. Of the workloads that were timed in more lanes,
/// box-p2 has the largest tile that is faster so, with 608 KiB.
const LARGEST_TILE_OF_MORE: usize = 10 << 10;

/// How often regions read a pixel of their copy, at least, if more lanes pay. mask-p2 reads one 0.6 times, spends most
/// of its time on the copy, and took a tenth longer in more lanes. box-p2 reads one 6 times.
const READS_OF_MORE: usize = 2;

/// What all tasks of a call share.
pub struct Work<'a, S: Sum, K> {
    pub kernel: &'a K,
    pub features: &'a Features<'a, S>,
    pub planner: &'a Planner<S>,
    /// The channels of the output, and the elements of a channel of a region.
    pub output_size: [usize; 2],
    /// How many rows of a region's output are computed before they go there, [`rows_of_a_band`].
    pub of_a_band: usize,
    /// Whether the output is written past the caches.
    pub streams: bool,
}

/// Computes a task with whatever vector instructions the processor has.
pub fn compute<S: Sum, K: Kernel<S>>(work: &Work<'_, S, K>, task: Task<'_, S, [K::Plan; 2]>) {
    let lone_and_large =
        |region: &Planned<[K::Plan; 2]>| task.shared.is_none() && tile_capacity(&region.window) > LARGEST_TILE;
    if task.channels.len() < FEWEST_LANES || task.regions.iter().any(lone_and_large) {
        compute_one_by_one(work, task);
    } else {
        Arch::new().dispatch(Vectorized { work, task });
    }
}

/// What `pulp` is handed. All that it calls is inlined: only then is it compiled for these instructions.
struct Vectorized<'a, S: Sum, K: Kernel<S>> {
    work: &'a Work<'a, S, K>,
    task: Task<'a, S, [K::Plan; 2]>,
}

impl<S: Sum, K: Kernel<S>> WithSimd for Vectorized<'_, S, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        if const { has_lanes::<V>() } {
            compute_in_all_lanes(simd, self.work, self.task);
        } else {
            compute_one_by_one(self.work, self.task);
        }
    }
}

/// Several channels at a time: first in blocks of more lanes where that pays, then in blocks of fewer.
#[inline(always)]
fn compute_in_all_lanes<'a, S: Sum, K: Kernel<S>>(
    simd: impl Simd,
    work: &Work<'_, S, K>,
    mut task: Task<'a, S, [K::Plan; 2]>,
) {
    let mut stream = if work.streams { Stream::new(simd) } else { None };
    let Range { mut start, end } = task.channels;
    // The constant is evaluated before code is generated: what it leaves out takes no time to compile. More lanes were
    // timed on x86-64 only.
    if const { K::IN_MORE_LANES && size_of::<S>() == size_of::<f32>() && cfg!(target_arch = "x86_64") }
        && end - start > LANES
        && pays_to_take_more(&task)
    {
        // What is left is computed in fewer lanes if it is half a block or less.
        let more = (end - start + LANES - 1) / MORE_LANES * MORE_LANES;
        let channels = start..end.min(start + more);
        start = channels.end;
        compute_in_lanes::<_, _, MORE_LANES>(simd, work, &mut task, channels, &mut stream);
    }
    compute_in_lanes::<_, _, LANES>(simd, work, &mut task, start..end, &mut stream);
}

/// Whether a task is faster in more lanes.
fn pays_to_take_more<S, P>(task: &Task<'_, S, [P; 2]>) -> bool {
    let Some(hull) = task.shared else {
        return false;
    };
    let read: usize = task.regions.iter().map(|region| pixel_count(&region.window)).sum();
    let largest_tile = tile_capacity(&[0..most_rows(task), hull[1].clone()]);
    read >= READS_OF_MORE * pixel_count(hull) && largest_tile <= LARGEST_TILE_OF_MORE
}

/// How many rows the tallest window of a task has.
fn most_rows<S, P>(task: &Task<'_, S, [P; 2]>) -> usize {
    let rows = task.regions.iter().map(|region| region.window[0].len());
    rows.max().unwrap_or(0)
}

/// `L` channels at a time, from a copy of the pixels in which they are neighbours. What precedes these channels in the
/// outputs was taken from them.
#[inline(always)]
fn compute_in_lanes<'a, S: Sum, K: Kernel<S>, const L: usize>(
    simd: impl Simd,
    work: &Work<'_, S, K>,
    task: &mut Task<'a, S, [K::Plan; 2]>,
    channels: Range<usize>,
    stream: &mut Option<Stream<'a>>,
) {
    let [_, of_a_channel] = work.output_size;
    let mut tile = Tile::<S, L>::new();
    let mut scratch = Scratch::new();
    let most_rows = most_rows(task);
    for start in channels.clone().step_by(L) {
        let lanes = LaneChannels {
            first: start,
            step: 1,
            count: L.min(channels.end - start),
        };
        if let Some([_, columns]) = task.shared {
            tile.clear(most_rows, columns.clone());
        }
        for (region, rest) in task.regions.iter().zip(&mut task.outputs) {
            let [rows, columns] = region.window.clone();
            if task.shared.is_none() {
                tile.clear(rows.len(), columns);
            }
            tile.load(simd, work.features, region.image, &lanes, rows);
            let output = rest.take(lanes.count * of_a_channel);
            compute_region(simd, work, region, &tile, &mut scratch, output, stream);
        }
    }
}

/// One channel at a time, from where its pixels are. So few numbers gain little from vectors: it is compiled without.
#[inline(never)]
fn compute_one_by_one<S: Sum, K: Kernel<S>>(work: &Work<'_, S, K>, mut task: Task<'_, S, [K::Plan; 2]>) {
    let [_, of_a_channel] = work.output_size;
    let mut tile = Tile::<S, 1>::new();
    let mut scratch = Scratch::new();
    for channel in task.channels.clone() {
        for (region, rest) in task.regions.iter().zip(&mut task.outputs) {
            let output = rest.take(of_a_channel);
            if let Some(plane) = work.features.plane(region.image, channel) {
                compute_region(Scalar::new(), work, region, &plane, &mut scratch, output, &mut None);
            } else if const { S::SUMS_HALVES } {
                let [rows, columns] = region.window.clone();
                let lane = LaneChannels {
                    first: channel,
                    step: 1,
                    count: 1,
                };
                tile.clear(rows.len(), columns);
                tile.load(Scalar::new(), work.features, region.image, &lane, rows);
                compute_region(Scalar::new(), work, region, &tile, &mut scratch, output, &mut None);
            }
        }
    }
}

/// A region in up to `L` channels, from rows of its window to where its output is.
#[inline(always)]
fn compute_region<'a, S: Sum, K: Kernel<S>, const L: usize>(
    simd: impl Simd,
    work: &Work<'_, S, K>,
    region: &Planned<[K::Plan; 2]>,
    rows: &impl Rows<S, L>,
    scratch: &mut Scratch<S, L>,
    mut output: NumbersMut<'a, S>,
    stream: &mut Option<Stream<'a>>,
) {
    let [height, width] = work.planner.output_size();
    let columns = &region.window[1];
    scratch.along_y.resize(K::pixels_along_y(columns.len()));
    for start in (0..height).step_by(work.of_a_band) {
        let output_rows = start..(start + work.of_a_band).min(height);
        scratch.sums.resize(output_rows.len() * width);
        work.kernel.compute(
            simd,
            [&region.plan[0], &region.plan[1]],
            [output_rows, 0..width],
            Window {
                rows,
                columns: columns.clone(),
            },
            scratch.along_y.get_mut(),
            scratch.sums.get_mut(),
        );
        if let (Some(stream), true) = (&mut *stream, work.of_a_band >= height) {
            simd.vectorize(StreamElements {
                scratch,
                stream,
                output,
            });
            return;
        }
        simd.vectorize(WriteElements {
            elements: scratch.sums.get(),
            lanes: &mut scratch.lanes,
            first: start * width,
            of_a_channel: height * width,
            output: &mut output,
        });
    }
}

/// All elements of a region on their way past the caches. Like [`WriteElements`], it is compiled once for all kernels,
/// since `pulp` is handed it by itself.
struct StreamElements<'a, 'b, S: Sum, const L: usize> {
    scratch: &'b mut Scratch<S, L>,
    stream: &'b mut Stream<'a>,
    output: NumbersMut<'a, S>,
}

impl<S: Sum, const L: usize> WithSimd for StreamElements<'_, '_, S, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let Scratch {
            sums, lanes, rounded, ..
        } = self.scratch;
        let channels = self.output.len() / sums.get().len();
        let lanes = in_channels(simd, sums.get(), channels, lanes);
        match self.output {
            NumbersMut::Sums(output) => self.stream.copy(lanes, output),
            NumbersMut::Halves(half, output) => {
                rounded.resize(lanes.len(), 0);
                S::narrow(simd, half, lanes, rounded);
                self.stream.copy(rounded, output);
            }
        }
    }
}

/// The elements of a region from number `first` on, which are written to its output. That has `of_a_channel` in each
/// channel.
pub struct WriteElements<'a, 'b, S: Sum, const L: usize> {
    pub elements: &'a [[S; L]],
    pub lanes: &'a mut AlignedPixels<S, 1>,
    pub first: usize,
    pub of_a_channel: usize,
    pub output: &'a mut NumbersMut<'b, S>,
}

impl<S: Sum, const L: usize> WithSimd for WriteElements<'_, '_, S, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let Self {
            elements,
            lanes,
            first,
            of_a_channel,
            output,
        } = self;
        let count = elements.len();
        let channels = output.len() / of_a_channel;
        let lanes = in_channels(simd, elements, channels, lanes);
        if count == of_a_channel {
            output.write(simd, lanes);
            return;
        }
        for (channel, lane) in lanes.chunks_exact(count).enumerate() {
            let first = channel * of_a_channel + first;
            output.get(first..first + count).write(simd, lane);
        }
    }
}

/// Elements, one channel after another, in `lanes`. They go to the output by way of this copy in the nearest cache:
/// lanes that are written side by side to the output leave every line of it unfinished until the next ones come.
#[inline(always)]
fn in_channels<'a, S: Sum, const L: usize>(
    simd: impl Simd,
    elements: &[[S; L]],
    channels: usize,
    lanes: &'a mut AlignedPixels<S, 1>,
) -> &'a [S] {
    lanes.resize(channels * elements.len());
    let lanes = lanes.get_mut().as_flattened_mut();
    deinterleave(simd, elements, lanes);
    lanes
}
