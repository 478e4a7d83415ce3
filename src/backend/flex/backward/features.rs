//! The gradient of features: a task owns some channels of an image and walks its regions in one order, so sums have the
//! same bits whatever the number of threads.

use std::ops::Range;

use burn::tensor::Shape;
use burn_flex::{FlexTensor, Layout};
use pulp::{Arch, Simd, WithSimd};

use super::row_writer::{Earlier, RowWriter};
use super::runs::{Run, runs};
use super::scatter::{Reads, Scatter, Scratch};
use super::sum_rows::SumRows;
use crate::backend::flex::engine::{FEWEST_LANES, Planned, in_parallel, plan, rows_of_a_band, run_tasks};
use crate::backend::flex::numbers::Number;
use crate::backend::flex::pixels::{Features, LANES, LaneChannels, Memory, Rows, Tile, tile_capacity};
use crate::geometry::plan::{AxisPlan, Planner, Region};

/// How many numbers the plans hold that are there at a time, 8 MiB of f32.
const PLANNED: usize = 1 << 21;

/// What is computed.
pub struct Call<'a, E: Number> {
    /// The gradient of the output, `[K, channels, P, Q]`, contiguous.
    pub gradient: &'a FlexTensor,
    /// `[N, C, H, W]`, whose rows are contiguous; any tensor where the kernel reads none.
    pub features: &'a FlexTensor,
    /// At least one.
    pub regions: &'a [Region],
    /// The shape of the features.
    pub shape: Shape,
    pub planner: &'a Planner<E::Sum>,
}

/// Whether all plans are there at a time, so that every sum is complete before it is rounded.
pub fn is_one_batch<S: Scatter<E::Sum>, E: Number>(call: &Call<'_, E>) -> bool {
    call.regions.len() <= batch::<S, E>(call)
}

fn batch<S: Scatter<E::Sum>, E: Number>(call: &Call<'_, E>) -> usize {
    (PLANNED / S::Plan::size(call.planner)).max(1)
}

/// The gradient of the features in numbers `O`: `E`, or the sums' type where there is more than one batch.
pub fn run<E: Number, O: Number<Sum = E::Sum>, S: Scatter<E::Sum>>(call: Call<'_, E>, kernel: &S) -> FlexTensor {
    let [_, _, height, width] = call.shape.dims();
    let [count, channels, rows, columns] = call.gradient.layout().shape().dims();
    let parallel = in_parallel(call.gradient.layout().num_elements());
    let memory = Memory::new::<O>(call.shape.num_elements(), parallel);
    let left_by_others = if memory.is_zero {
        Earlier::Zeros
    } else {
        Earlier::AnyNumbers
    };
    let mut output = FlexTensor::new(memory.bytes, Layout::contiguous(call.shape.clone()), O::dtype());
    let flat = Shape::new([count, channels, 1, rows * columns]);
    let flat = call.gradient.reshape(flat);
    let batch = batch::<S, E>(&call);
    for (number, regions) in call.regions.chunks(batch).enumerate() {
        let planned: Vec<Planned<[S::Plan; 2]>> = plan(regions, call.planner, parallel);
        let work = Work {
            kernel,
            features: &Features::<E>::new(call.features),
            gradient: &Features::<E>::new(&flat),
            planner: call.planner,
            width,
            earlier: if number == 0 { left_by_others } else { Earlier::Sums },
        };
        let runs = runs(&planned, number * batch, call.planner, call.shape[0], parallel);
        let tasks = work.divide(
            &runs,
            output.storage_mut::<O>(),
            height * width,
            call.shape[1],
            channels,
        );
        run_tasks(tasks, parallel, |task| {
            Arch::new().dispatch(Vectorized { work: &work, task })
        });
    }
    output
}

/// What all tasks share.
struct Work<'a, E: Number, S: Scatter<E::Sum>> {
    kernel: &'a S,
    features: &'a Features<'a, E>,
    /// `[K, channels, 1, P * Q]`.
    gradient: &'a Features<'a, E>,
    planner: &'a Planner<E::Sum>,
    /// The width of the map.
    width: usize,
    earlier: Earlier,
}

/// Output channels of an image that read channels of their own in a run of elements.
struct Task<'a, O, P> {
    run: &'a Run<'a, P>,
    /// The channels of the output.
    channels: Range<usize>,
    /// The gradient of each channel that these read.
    planes: Vec<&'a mut [O]>,
}

impl<E: Number, S: Scatter<E::Sum>> Work<'_, E, S> {
    /// Divides the gradient `memory` among tasks.
    fn divide<'a, O>(
        &self,
        runs: &'a [Run<'a, S::Plan>],
        memory: &'a mut [O],
        of_a_plane: usize,
        input_channels: usize,
        channels: usize,
    ) -> Vec<Task<'a, O, S::Plan>> {
        let mut planes: Vec<Option<&mut [O]>> = memory.chunks_exact_mut(of_a_plane).map(Some).collect();
        let (map, [_, columns]) = (self.planner.channel_map(), self.planner.output_size());
        let step = input_channels / channels;
        let mut tasks = Vec::new();
        for run in runs {
            let first_element = run.elements.each_ref().map(|range| range.start);
            let first = run.image * input_channels + map.first_channel(first_element, columns);
            for start in (0..channels).step_by(LANES) {
                let channels = start..(start + LANES).min(channels);
                let planes = channels.clone().map(|channel| planes[first + channel * step].take());
                tasks.push(Task {
                    run,
                    planes: planes
                        .map(|plane| plane.expect("a channel is read by one run"))
                        .collect(),
                    channels,
                });
            }
        }
        assert!(planes.iter().all(Option::is_none), "a run reads every channel");
        tasks
    }
}

/// What `pulp` is handed. All that it calls is inlined: only then is it compiled for these instructions.
struct Vectorized<'a, 'b, E: Number, O, S: Scatter<E::Sum>> {
    work: &'a Work<'a, E, S>,
    task: Task<'b, O, S::Plan>,
}

impl<E: Number, O: Number<Sum = E::Sum>, S: Scatter<E::Sum>> WithSimd for Vectorized<'_, '_, E, O, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        compute_task(simd, self.work, self.task);
    }
}

#[inline(always)]
fn compute_task<E: Number, O: Number<Sum = E::Sum>, S: Scatter<E::Sum>>(
    simd: impl Simd,
    work: &Work<'_, E, S>,
    task: Task<'_, O, S::Plan>,
) {
    let run = task.run;
    if task.channels.len() < FEWEST_LANES || tile_capacity(&[0..run.rows, run.columns.clone()]) > S::LARGEST_TILE {
        let mut planes = task.planes.into_iter();
        for channel in task.channels {
            let one = Task {
                run,
                channels: channel..channel + 1,
                planes: planes.by_ref().take(1).collect(),
            };
            compute_lanes::<_, _, _, _, 1>(simd, work, one);
        }
    } else {
        compute_lanes::<_, _, _, _, LANES>(simd, work, task);
    }
}

/// Computes a task of at most `L` channels.
#[inline(always)]
fn compute_lanes<V: Simd, E: Number, O: Number<Sum = E::Sum>, S: Scatter<E::Sum>, const L: usize>(
    simd: V,
    work: &Work<'_, E, S>,
    mut task: Task<'_, O, S::Plan>,
) {
    let Run {
        elements,
        regions,
        rows,
        columns,
        ..
    } = task.run;
    let [_, of_a_row] = work.planner.output_size();
    let [output_rows, output_columns] = elements.clone();
    let of_a_channel = work
        .planner
        .channel_map()
        .input_channels(work.planner.output_size().iter().product());
    let first = work
        .planner
        .channel_map()
        .first_channel([output_rows.start, output_columns.start], of_a_row);
    let input_lanes = LaneChannels {
        first: first + task.channels.start * of_a_channel,
        step: of_a_channel,
        count: task.channels.len(),
    };
    let output_lanes = LaneChannels {
        first: task.channels.start,
        step: 1,
        count: task.channels.len(),
    };
    let mut sums = SumRows::<E::Sum, L>::new();
    let mut tile = Tile::<E::Sum, L>::new();
    let mut gradient = Tile::<E::Sum, L>::new();
    let mut scratch = Scratch::new();
    let mut writer = RowWriter::new(columns.clone(), work.width, work.earlier);
    sums.clear(*rows, columns.clone());
    let reads = work.kernel.reads();
    if reads == Reads::Pixels {
        tile.clear(*rows, columns.clone());
    }
    let of_a_band = rows_of_a_band(output_rows.len(), output_columns.len());
    for region in regions {
        let [window_rows, window_columns] = region.window.clone();
        sums.open(window_rows.clone(), |row, pixels| {
            writer.write(simd, row, pixels, &mut task.planes)
        });
        match reads {
            Reads::Nothing => {}
            Reads::Pixels => tile.load(simd, work.features, task.run.image, &input_lanes, window_rows),
            Reads::Keys => {
                scratch.load_keys(simd, work.features, task.run.image, &input_lanes, window_rows, &sums);
            }
        }
        for start in output_rows.clone().step_by(of_a_band) {
            let end = (start + of_a_band).min(output_rows.end);
            // A run is whole rows, or one element.
            let elements = start * of_a_row + output_columns.start..(end - 1) * of_a_row + output_columns.end;
            gradient.clear(1, elements.clone());
            gradient.load(simd, work.gradient, region.row, &output_lanes, 0..1);
            work.kernel.add(
                simd,
                region.plan,
                [start..end, output_columns.clone()],
                window_columns.clone(),
                gradient.row(0, elements),
                &tile,
                &mut scratch,
                &mut sums,
            );
        }
    }
    sums.close(|row, pixels| writer.write(simd, row, pixels, &mut task.planes));
    writer.finish(&mut task.planes);
}
