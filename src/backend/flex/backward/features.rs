//! The gradient of features: a task owns some channels of an image and walks its regions in one order, so sums have the
//! same bits whatever the number of threads.

use std::ops::Range;

use burn::tensor::{DType, Shape};
use burn_flex::{FlexTensor, Layout};
use pulp::{Scalar, Simd, WithSimd};

use super::row_writer::{Earlier, RowWriter};
use super::runs::{Run, runs};
use super::scatter::{Reads, Scatter, Scratch};
use super::sum_rows::SumRows;
use crate::backend::flex::drive::{in_parallel, run_tasks};
use crate::backend::flex::engine::{FEWEST_LANES, Planned, plan, rows_of_a_band};
use crate::backend::flex::numbers::{NumbersMut, Sum, dispatch_gradient, has_lanes};
use crate::backend::flex::pixels::{Features, LANES, LaneChannels, Memory, Rows, Tile, tile_capacity};
use crate::geometry::plan::{AxisPlan, Planner, Region};

/// How many numbers the plans hold that are there at a time, 8 MiB of f32.
const PLANNED: usize = 1 << 21;

/// What is computed.
pub struct Call<'a, S: Sum> {
    /// The gradient of the output, `[K, channels, P, Q]`, contiguous.
    pub gradient: &'a FlexTensor,
    /// `[N, C, H, W]`, whose rows are contiguous; any tensor where the kernel reads none.
    pub features: &'a FlexTensor,
    /// At least one.
    pub regions: &'a [Region],
    /// The shape of the features.
    pub shape: Shape,
    pub planner: &'a Planner<S>,
}

/// Whether all plans are there at a time, so that every sum is complete before it is rounded.
pub fn is_one_batch<S: Sum, K: Scatter<S>>(call: &Call<'_, S>) -> bool {
    call.regions.len() <= batch::<S, K>(call)
}

fn batch<S: Sum, K: Scatter<S>>(call: &Call<'_, S>) -> usize {
    (PLANNED / K::Plan::size(call.planner)).max(1)
}

/// The gradient of the features in a dtype: that of the features, or of the sums where there is more than one batch.
pub fn run<S: Sum, K: Scatter<S>>(call: Call<'_, S>, kernel: &K, dtype: DType) -> FlexTensor {
    let [_, _, height, width] = call.shape.dims();
    let [count, channels, rows, columns] = call.gradient.layout().shape().dims();
    let parallel = in_parallel(call.gradient.layout().num_elements());
    let memory = Memory::new(dtype, call.shape.num_elements(), parallel);
    let left_by_others = if memory.is_zero {
        Earlier::Zeros
    } else {
        Earlier::AnyNumbers
    };
    let mut output = FlexTensor::new(memory.bytes, Layout::contiguous(call.shape.clone()), dtype);
    let flat = Shape::new([count, channels, 1, rows * columns]);
    let flat = call.gradient.reshape(flat);
    let batch = batch::<S, K>(&call);
    for (number, regions) in call.regions.chunks(batch).enumerate() {
        let planned: Vec<Planned<[K::Plan; 2]>> = plan(regions, call.planner, parallel);
        let work = Work {
            kernel,
            features: &Features::new(call.features),
            gradient: &Features::new(&flat),
            planner: call.planner,
            width,
            earlier: if number == 0 { left_by_others } else { Earlier::Sums },
        };
        let runs = runs(&planned, number * batch, call.planner, call.shape[0], parallel);
        let tasks = work.divide(
            &runs,
            NumbersMut::of(&mut output),
            height * width,
            call.shape[1],
            channels,
        );
        run_tasks(tasks, parallel, |task| compute(&work, task));
    }
    output
}

/// What all tasks share.
struct Work<'a, S: Sum, K> {
    kernel: &'a K,
    features: &'a Features<'a, S>,
    /// `[K, channels, 1, P * Q]`.
    gradient: &'a Features<'a, S>,
    planner: &'a Planner<S>,
    /// The width of the map.
    width: usize,
    earlier: Earlier,
}

/// Output channels of an image that read channels of their own in a run of elements.
struct Task<'a, S, P> {
    run: &'a Run<'a, P>,
    /// The channels of the output.
    channels: Range<usize>,
    /// The gradient of each channel that these read.
    planes: Vec<NumbersMut<'a, S>>,
}

impl<S: Sum, K: Scatter<S>> Work<'_, S, K> {
    /// Divides the gradient `memory` among tasks.
    fn divide<'a>(
        &self,
        runs: &'a [Run<'a, K::Plan>],
        memory: NumbersMut<'a, S>,
        of_a_plane: usize,
        input_channels: usize,
        channels: usize,
    ) -> Vec<Task<'a, S, K::Plan>> {
        let mut planes: Vec<Option<NumbersMut<'a, S>>> = memory.parts(of_a_plane).into_iter().map(Some).collect();
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

fn compute<S: Sum, K: Scatter<S>>(work: &Work<'_, S, K>, task: Task<'_, S, K::Plan>) {
    let run = task.run;
    if task.channels.len() < FEWEST_LANES || tile_capacity(&[0..run.rows, run.columns.clone()]) > K::LARGEST_TILE {
        compute_one_by_one(work, task);
    } else {
        dispatch_gradient::<S, _>(Vectorized { work, task });
    }
}

/// What `pulp` is handed. All that it calls is inlined: only then is it compiled for these instructions.
struct Vectorized<'a, 'b, S: Sum, K: Scatter<S>> {
    work: &'a Work<'a, S, K>,
    task: Task<'b, S, K::Plan>,
}

impl<S: Sum, K: Scatter<S>> WithSimd for Vectorized<'_, '_, S, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        if const { has_lanes::<V>() } {
            compute_lanes::<_, _, _, LANES>(simd, self.work, self.task);
        } else {
            compute_one_by_one(self.work, self.task);
        }
    }
}

/// One channel at a time. So few numbers gain little from vectors: it is compiled without.
#[inline(never)]
fn compute_one_by_one<S: Sum, K: Scatter<S>>(work: &Work<'_, S, K>, task: Task<'_, S, K::Plan>) {
    for (channel, plane) in task.channels.zip(task.planes) {
        let one = Task {
            run: task.run,
            channels: channel..channel + 1,
            planes: vec![plane],
        };
        compute_lanes::<_, _, _, 1>(Scalar::new(), work, one);
    }
}

/// Computes a task of at most `L` channels.
#[inline(always)]
fn compute_lanes<V: Simd, S: Sum, K: Scatter<S>, const L: usize>(
    simd: V,
    work: &Work<'_, S, K>,
    mut task: Task<'_, S, K::Plan>,
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
    let mut sums = SumRows::<S, L>::new();
    let mut tile = Tile::<S, L>::new();
    let mut gradient = Tile::<S, L>::new();
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
