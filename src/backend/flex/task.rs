//! A task: a range of channels of some regions, computed with vector instructions.

use pulp::{Arch, Simd, WithSimd};

use super::engine::Kernel;
use super::features::Features;
use super::groups::{Planned, Task};
use super::number::{Number, Sum};
use super::pixels::Pixels;
use super::tile::{LANES, LARGEST_TILE, Rows, Tile, room};
use super::transpose::apart;

/// As many output elements of a region are computed before they go to the output: 512 KiB of f32.
const BAND: usize = 1 << 14;

/// Fewer channels than this are computed one by one.
const FEWEST_LANES: usize = 3;

/// Computes a task with whatever vector instructions the processor has.
pub fn compute<E: Number, K: Kernel<E::Sum>>(
    kernel: &K,
    features: &Features<'_, E>,
    output_size: [usize; 2],
    task: Task<'_, E, K::Plan>,
) {
    Arch::new().dispatch(Vectorized {
        kernel,
        features,
        output_size,
        task,
    })
}

/// What `pulp` is handed. All that it calls is inlined: only then is it compiled for these instructions.
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
        compute_task(simd, self.kernel, self.features, self.output_size, self.task);
    }
}

#[inline(always)]
fn compute_task<E: Number, K: Kernel<E::Sum>>(
    simd: impl Simd,
    kernel: &K,
    features: &Features<'_, E>,
    output_size: [usize; 2],
    task: Task<'_, E, K::Plan>,
) {
    let lone_and_large = |region: &Planned<K::Plan>| task.shared.is_none() && room(&region.window) > LARGEST_TILE;
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
