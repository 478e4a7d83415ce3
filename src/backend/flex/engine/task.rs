//! A task: a range of channels of some regions, computed with vector instructions.

use pulp::{Arch, Simd, WithSimd};

use super::groups::{Planned, Task};
use super::kernel::{Kernel, Window};
use super::scratch::Scratch;
use crate::backend::flex::numbers::{Number, deinterleave};
use crate::backend::flex::pixels::{
    AlignedPixels, Features, LANES, LARGEST_TILE, LaneChannels, Rows, Tile, tile_capacity,
};
use crate::geometry::plan::Planner;

/// As many output elements of a region are computed before they go to the output: 512 KiB of f32.
pub const BAND: usize = 1 << 14;

/// Fewer channels than this are computed one by one.
pub const FEWEST_LANES: usize = 3;

/// What all tasks of a call share.
pub struct Work<'a, E: Number, K> {
    pub kernel: &'a K,
    pub features: &'a Features<'a, E>,
    pub planner: &'a Planner<E::Sum>,
}

/// Computes a task with whatever vector instructions the processor has.
pub fn compute<E: Number, K: Kernel<E::Sum>>(work: &Work<'_, E, K>, task: Task<'_, E, [K::Plan; 2]>) {
    Arch::new().dispatch(Vectorized { work, task })
}

/// What `pulp` is handed. All that it calls is inlined: only then is it compiled for these instructions.
struct Vectorized<'a, E: Number, K: Kernel<E::Sum>> {
    work: &'a Work<'a, E, K>,
    task: Task<'a, E, [K::Plan; 2]>,
}

impl<E: Number, K: Kernel<E::Sum>> WithSimd for Vectorized<'_, E, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        compute_task(simd, self.work, self.task);
    }
}

#[inline(always)]
fn compute_task<E: Number, K: Kernel<E::Sum>>(simd: impl Simd, work: &Work<'_, E, K>, task: Task<'_, E, [K::Plan; 2]>) {
    let lone_and_large =
        |region: &Planned<[K::Plan; 2]>| task.shared.is_none() && tile_capacity(&region.window) > LARGEST_TILE;
    if task.channels.len() < FEWEST_LANES || task.regions.iter().any(lone_and_large) {
        compute_one_by_one(simd, work, task);
    } else {
        compute_in_lanes(simd, work, task);
    }
}

/// Several channels at a time, from a copy of the pixels in which they are neighbours.
#[inline(always)]
fn compute_in_lanes<E: Number, K: Kernel<E::Sum>>(
    simd: impl Simd,
    work: &Work<'_, E, K>,
    mut task: Task<'_, E, [K::Plan; 2]>,
) {
    let [rows, columns] = work.planner.output_size();
    let of_a_channel = rows * columns;
    let mut tile = Tile::<E::Sum, LANES>::new();
    let mut scratch = Scratch::new();
    let rows_of = |region: &Planned<[K::Plan; 2]>| region.window[0].len();
    let most_rows = task.regions.iter().map(rows_of).max().unwrap_or(0);
    for start in task.channels.clone().step_by(LANES) {
        let lanes = LaneChannels {
            first: start,
            step: 1,
            count: LANES.min(task.channels.end - start),
        };
        if let Some([_, columns]) = task.shared {
            tile.clear(most_rows, columns.clone());
        }
        let first = (start - task.channels.start) * of_a_channel;
        let range = first..first + lanes.count * of_a_channel;
        for (region, output) in task.regions.iter().zip(&mut task.outputs) {
            let [rows, columns] = region.window.clone();
            if task.shared.is_none() {
                tile.clear(rows.len(), columns);
            }
            tile.load(simd, work.features, region.image, &lanes, rows);
            let output = &mut output[range.clone()];
            compute_region(simd, work, region, &tile, &mut scratch, output);
        }
    }
}

/// One channel at a time, from where its pixels are.
#[inline(always)]
fn compute_one_by_one<E: Number, K: Kernel<E::Sum>>(
    simd: impl Simd,
    work: &Work<'_, E, K>,
    mut task: Task<'_, E, [K::Plan; 2]>,
) {
    let [rows, columns] = work.planner.output_size();
    let of_a_channel = rows * columns;
    let mut tile = Tile::<E::Sum, 1>::new();
    let mut scratch = Scratch::new();
    for (number, channel) in task.channels.clone().enumerate() {
        let range = number * of_a_channel..(number + 1) * of_a_channel;
        for (region, output) in task.regions.iter().zip(&mut task.outputs) {
            let output = &mut output[range.clone()];
            if E::as_sums(&[]).is_some() {
                let plane = work.features.plane(region.image, channel);
                compute_region(simd, work, region, &plane, &mut scratch, output);
            } else {
                let [rows, columns] = region.window.clone();
                let lane = LaneChannels {
                    first: channel,
                    step: 1,
                    count: 1,
                };
                tile.clear(rows.len(), columns);
                tile.load(simd, work.features, region.image, &lane, rows);
                compute_region(simd, work, region, &tile, &mut scratch, output);
            }
        }
    }
}

/// A region in up to `L` channels, from rows of its window to where its output is.
#[inline(always)]
fn compute_region<E: Number, K: Kernel<E::Sum>, const L: usize>(
    simd: impl Simd,
    work: &Work<'_, E, K>,
    region: &Planned<[K::Plan; 2]>,
    rows: &impl Rows<E::Sum, L>,
    scratch: &mut Scratch<E::Sum, L>,
    output: &mut [E],
) {
    let [height, width] = work.planner.output_size();
    let columns = &region.window[1];
    scratch.along_y.resize(K::pixels_along_y(columns.len()));
    let of_a_band = (BAND / width).clamp(1, height);
    for start in (0..height).step_by(of_a_band) {
        let output_rows = start..(start + of_a_band).min(height);
        scratch.sums.resize(output_rows.len() * width);
        work.kernel.compute(
            simd,
            region.plan.each_ref(),
            [output_rows, 0..width],
            Window {
                rows,
                columns: columns.clone(),
            },
            scratch.along_y.get_mut(),
            scratch.sums.get_mut(),
        );
        let elements = scratch.sums.get();
        write_elements(
            simd,
            elements,
            &mut scratch.lanes,
            start * width,
            height * width,
            output,
        );
    }
}

/// Writes the elements of a region from number `first` on to its output, which has `of_a_channel` in each channel.
#[inline(always)]
pub fn write_elements<E: Number, const L: usize>(
    simd: impl Simd,
    elements: &[[E::Sum; L]],
    lanes: &mut AlignedPixels<E::Sum, 1>,
    first: usize,
    of_a_channel: usize,
    output: &mut [E],
) {
    // By way of a copy in the nearest cache: lanes written side by side to the output leave every line
    // of it unfinished until the next ones come.
    let count = elements.len();
    lanes.resize(output.len() / of_a_channel * count);
    let lanes = lanes.get_mut().as_flattened_mut();
    deinterleave(simd, elements, lanes);
    if count == of_a_channel {
        E::narrow(simd, lanes, output);
        return;
    }
    let outputs = output[first..].chunks_mut(of_a_channel);
    for (output, lane) in outputs.zip(lanes.chunks_exact(count)) {
        E::narrow(simd, lane, &mut output[..count]);
    }
}
