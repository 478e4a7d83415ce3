//! Output elements that read channels of their own, as those of a position-sensitive operator: run after run of
//! elements, each from the pixels of its own window.

use std::ops::Range;

use pulp::Simd;

use super::groups::{Planned, Task, pays_to_share};
use super::kernel::{Kernel, Window};
use super::scratch::Scratch;
use super::task::Work;
use crate::backend::flex::numbers::{Number, Sum};
use crate::backend::flex::pixels::{LANES, LARGEST_TILE, LaneChannels, Rows, Tile, tile_capacity};
use crate::geometry::plan::{AxisPlan, hull, pixel_count};

/// Elements that read the same channels.
struct Run {
    /// Rows and columns of the output.
    elements: [Range<usize>; 2],
    /// The channel that the first output channel reads.
    first_channel: usize,
}

impl Run {
    /// The pixels that it reads for a region.
    #[inline(always)]
    fn window<S: Sum, P: AxisPlan<S>>(&self, region: &Planned<[P; 2]>) -> [Range<usize>; 2] {
        // Not by `map`, whose closure was not inlined: with the next function it took a fifth of ps-rfcn.
        let ([y, x], [rows, columns]) = (&region.plan, &self.elements);
        [y.window_of(rows.clone()), x.window_of(columns.clone())]
    }
}

/// What a task uses again from run to run: for `L` channels, and for one.
struct Memory<S, const L: usize> {
    tile: Tile<S, L>,
    scratch: Scratch<S, L>,
    lone_tile: Tile<S, 1>,
    lone_scratch: Scratch<S, 1>,
}

/// Twice as many lanes. An element reads few pixels, so what is done once for all of its channels takes longest: in
/// blocks of 8, the 10 channels of ps-rfcn took 1.4 times as long.
const MORE_LANES: usize = 2 * LANES;

/// How many output channels are computed at a time, if there are so many. Only averages in f32 are compiled for more
/// than [`LANES`]: all position-sensitive operators of frameworks are averages, and each dtype adds 5 % to the time that
/// this crate takes to compile.
pub const fn lanes_of_runs<E: Number, K: Kernel<E::Sum>>() -> usize {
    if K::IS_AVERAGE && size_of::<E>() == size_of::<f32>() {
        MORE_LANES
    } else {
        LANES
    }
}

/// Computes a task: several output channels at a time, whose input channels are interleaved in a copy.
#[inline(always)]
pub fn compute_runs<E: Number, K: Kernel<E::Sum>>(
    simd: impl Simd,
    work: &Work<'_, E, K>,
    task: Task<'_, E, [K::Plan; 2]>,
) {
    // The constant is evaluated before code is generated: what it leaves out takes no time to compile.
    if const { lanes_of_runs::<E, K>() == MORE_LANES } && task.channels.len() > LANES {
        compute_channels::<E, K, MORE_LANES>(simd, work, task);
    } else {
        compute_channels::<E, K, LANES>(simd, work, task);
    }
}

/// Computes all channels of a task, `L` at a time.
///
/// All regions are computed in a run before the next run is: the planes that it reads stay in the nearest caches.
#[inline(always)]
fn compute_channels<E: Number, K: Kernel<E::Sum>, const L: usize>(
    simd: impl Simd,
    work: &Work<'_, E, K>,
    mut task: Task<'_, E, [K::Plan; 2]>,
) {
    let [rows, columns] = work.planner.output_size();
    let of_a_channel = rows * columns;
    let step = work.planner.channel_map().input_channels(of_a_channel);
    let mut memory = Memory::<_, L> {
        tile: Tile::new(),
        scratch: Scratch::new(),
        lone_tile: Tile::new(),
        lone_scratch: Scratch::new(),
    };
    for start in task.channels.clone().step_by(L) {
        let count = L.min(task.channels.end - start);
        let first = (start - task.channels.start) * of_a_channel;
        let of_these = first..first + count * of_a_channel;
        for run in runs(work) {
            let first = run.first_channel + start * step;
            let lanes = LaneChannels { first, step, count };
            let shared = shared_window::<_, _, L>(&run, task.regions);
            if let Some(window) = &shared {
                load(simd, work, task.regions[0].image, &lanes, window, &mut memory.tile);
            }
            for (region, output) in task.regions.iter().zip(&mut task.outputs) {
                let output = &mut output[of_these.clone()];
                if shared.is_none() {
                    let window = run.window(region);
                    // So many channels of a window this large take too much memory.
                    if !fits::<L>(&window) {
                        compute_one_by_one(simd, work, &run, region, &lanes, &mut memory, output);
                        continue;
                    }
                    load(simd, work, region.image, &lanes, &window, &mut memory.tile);
                }
                compute_run(simd, work, &run, region, &memory.tile, &mut memory.scratch, output);
            }
        }
    }
}

/// Whether a tile of a window takes no more memory in `L` channels than the largest one in eight.
fn fits<const L: usize>(window: &[Range<usize>; 2]) -> bool {
    tile_capacity(window) * L <= LARGEST_TILE * LANES
}

/// The runs of a region's elements.
fn runs<E: Number, K: Kernel<E::Sum>>(work: &Work<'_, E, K>) -> impl Iterator<Item = Run> {
    let [_, columns] = work.planner.output_size();
    let map = work.planner.channel_map();
    let [along_y, along_x] = [0, 1].map(|axis| work.planner.runs(axis));
    along_y.into_iter().flat_map(move |of_rows| {
        along_x.clone().into_iter().map(move |of_columns| Run {
            first_channel: map.first_channel([of_rows.start, of_columns.start], columns),
            elements: [of_rows.clone(), of_columns],
        })
    })
}

/// The pixels that a run reads for any of the regions, where a copy of them pays and takes little memory.
#[inline(always)]
fn shared_window<S: Sum, P: AxisPlan<S>, const L: usize>(
    run: &Run,
    regions: &[Planned<[P; 2]>],
) -> Option<[Range<usize>; 2]> {
    let mut all = [0..0, 0..0];
    let mut pixels = 0;
    for region in regions {
        let window = run.window(region);
        pixels += pixel_count(&window);
        for (all, range) in all.iter_mut().zip(window) {
            *all = hull([all.clone(), range].into_iter());
        }
    }
    (fits::<L>(&all) && pays_to_share(pixels, &all)).then_some(all)
}

/// Computes a run of a region one channel at a time, from where its pixels are.
#[inline(always)]
fn compute_one_by_one<E: Number, K: Kernel<E::Sum>, const L: usize>(
    simd: impl Simd,
    work: &Work<'_, E, K>,
    run: &Run,
    region: &Planned<[K::Plan; 2]>,
    lanes: &LaneChannels,
    memory: &mut Memory<E::Sum, L>,
    output: &mut [E],
) {
    let [rows, columns] = work.planner.output_size();
    for (lane, output) in output.chunks_exact_mut(rows * columns).enumerate() {
        let first = lanes.first + lane * lanes.step;
        if E::as_sums(&[]).is_some() {
            let plane = work.features.plane(region.image, first);
            compute_run(simd, work, run, region, &plane, &mut memory.lone_scratch, output);
        } else {
            let lane = LaneChannels {
                first,
                step: lanes.step,
                count: 1,
            };
            load(
                simd,
                work,
                region.image,
                &lane,
                &run.window(region),
                &mut memory.lone_tile,
            );
            compute_run(
                simd,
                work,
                run,
                region,
                &memory.lone_tile,
                &mut memory.lone_scratch,
                output,
            );
        }
    }
}

/// Copies the pixels of a window.
#[inline(always)]
fn load<E: Number, K: Kernel<E::Sum>, const L: usize>(
    simd: impl Simd,
    work: &Work<'_, E, K>,
    image: usize,
    lanes: &LaneChannels,
    [rows, columns]: &[Range<usize>; 2],
    tile: &mut Tile<E::Sum, L>,
) {
    tile.clear(rows.len(), columns.clone());
    tile.load(simd, work.features, image, lanes, rows.clone());
}

/// Computes a run of a region in up to `L` channels, as many as `output` has.
#[inline(always)]
fn compute_run<E: Number, K: Kernel<E::Sum>, const L: usize>(
    simd: impl Simd,
    work: &Work<'_, E, K>,
    run: &Run,
    region: &Planned<[K::Plan; 2]>,
    rows: &impl Rows<E::Sum, L>,
    scratch: &mut Scratch<E::Sum, L>,
    output: &mut [E],
) {
    let [height, width] = work.planner.output_size();
    let [of_rows, of_columns] = run.elements.clone();
    let columns = region.plan[1].window_of(of_columns.clone());
    scratch.along_y.resize(K::pixels_along_y(columns.len()));
    scratch.sums.resize(of_rows.len() * of_columns.len());
    work.kernel.compute(
        simd,
        region.plan.each_ref(),
        run.elements.clone(),
        Window { rows, columns },
        scratch.along_y.get_mut(),
        scratch.sums.get_mut(),
    );
    let places = of_rows.flat_map(|row| of_columns.clone().map(move |column| row * width + column));
    for (place, sums) in places.zip(scratch.sums.get()) {
        let outputs = output.iter_mut().skip(place).step_by(height * width);
        for (output, &sum) in outputs.zip(sums) {
            *output = E::store(sum);
        }
    }
}
