//! Output elements that read channels of their own, as those of a position-sensitive operator: run after run of
//! elements, each from the pixels of its own window.

use std::ops::Range;

use pulp::Simd;

use super::groups::{AxisPlans, Planned, Task};
use super::kernel::Kernel;
use super::scratch::Scratch;
use super::task::Work;
use crate::backend::flex::numbers::Number;
use crate::backend::flex::pixels::{LANES, LARGEST_TILE, LaneChannels, Rows, Tile, tile_capacity};
use crate::geometry::plan::AxisPlan;

/// A run of output elements that read the same channels.
struct Run<'a, P> {
    plan: [&'a P; 2],
    window: [Range<usize>; 2],
    /// Rows and columns of the output.
    elements: [Range<usize>; 2],
    /// The channel that the first output channel reads.
    first_channel: usize,
}

/// Computes a task: eight output channels at a time, whose input channels are interleaved in a small copy.
#[inline(always)]
pub fn compute_runs<E: Number, K: Kernel<E::Sum>>(
    simd: impl Simd,
    work: &Work<'_, E, K>,
    mut task: Task<'_, E, AxisPlans<K::Plan>>,
) {
    let [rows, columns] = work.planner.output_size();
    let of_a_channel = rows * columns;
    let step = work.planner.channel_map().input_channels(of_a_channel);
    let mut tile = Tile::<E::Sum, LANES>::new();
    let mut lone_tile = Tile::<E::Sum, 1>::new();
    let (mut scratch, mut lone_scratch) = (Scratch::new(), Scratch::new());
    for start in task.channels.clone().step_by(LANES) {
        let count = LANES.min(task.channels.end - start);
        let first = (start - task.channels.start) * of_a_channel;
        for (region, output) in task.regions.iter().zip(&mut task.outputs) {
            let output = &mut output[first..first + count * of_a_channel];
            for run in runs(work, region) {
                let first = run.first_channel + start * step;
                let lanes = LaneChannels { first, step, count };
                if tile_capacity(&run.window) <= LARGEST_TILE {
                    load(simd, work, region.image, &lanes, &run, &mut tile);
                    compute_run(work, &run, &tile, &mut scratch, output);
                    continue;
                }
                // Eight channels of a window this large take too much memory.
                for (lane, output) in output.chunks_exact_mut(of_a_channel).enumerate() {
                    let lane = LaneChannels {
                        first: first + lane * step,
                        step,
                        count: 1,
                    };
                    if E::as_sums(&[]).is_some() {
                        let plane = work.features.plane(region.image, lane.first);
                        compute_run(work, &run, &plane, &mut lone_scratch, output);
                    } else {
                        load(simd, work, region.image, &lane, &run, &mut lone_tile);
                        compute_run(work, &run, &lone_tile, &mut lone_scratch, output);
                    }
                }
            }
        }
    }
}

/// The runs of a region's elements.
#[inline(always)]
fn runs<'a, E: Number, K: Kernel<E::Sum>>(
    work: &Work<'_, E, K>,
    region: &'a Planned<AxisPlans<K::Plan>>,
) -> impl Iterator<Item = Run<'a, K::Plan>> {
    let [_, columns] = work.planner.output_size();
    let map = work.planner.channel_map();
    let [along_y, along_x] = [0, 1].map(|axis| work.planner.runs(axis));
    let rows = along_y.into_iter().zip(&region.plan[0]);
    rows.flat_map(move |(rows, y)| {
        let along_x = along_x.clone().into_iter().zip(&region.plan[1]);
        along_x.map(move |(of_run, x)| Run {
            plan: [y, x],
            window: [y.window(), x.window()],
            first_channel: map.first_channel([rows.start, of_run.start], columns),
            elements: [rows.clone(), of_run],
        })
    })
}

/// Copies the pixels of a run's window.
#[inline(always)]
fn load<E: Number, K: Kernel<E::Sum>, const L: usize>(
    simd: impl Simd,
    work: &Work<'_, E, K>,
    image: usize,
    lanes: &LaneChannels,
    run: &Run<'_, K::Plan>,
    tile: &mut Tile<E::Sum, L>,
) {
    let [rows, columns] = run.window.clone();
    tile.clear(rows.len(), columns);
    tile.load(simd, work.features, image, lanes, rows);
}

/// Computes a run in up to `L` channels, as many as `output` has.
#[inline(always)]
fn compute_run<E: Number, K: Kernel<E::Sum>, const L: usize>(
    work: &Work<'_, E, K>,
    run: &Run<'_, K::Plan>,
    rows: &impl Rows<E::Sum, L>,
    scratch: &mut Scratch<E::Sum, L>,
    output: &mut [E],
) {
    let [height, width] = work.planner.output_size();
    let [of_rows, of_columns] = run.elements.clone();
    scratch.along_y.resize(run.window[1].len());
    scratch.sums.resize(of_rows.len() * of_columns.len());
    work.kernel.compute(
        run.plan,
        0..of_rows.len(),
        run.window[1].clone(),
        rows,
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
