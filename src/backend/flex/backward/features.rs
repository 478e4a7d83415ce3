//! The gradient of features: a task owns some channels of an image and walks its regions in one order, so sums have the
//! same bits whatever the number of threads.

use std::ops::Range;

use burn::tensor::{Bytes, Shape};
use burn_flex::{FlexTensor, Layout};
use pulp::{Arch, Simd, WithSimd};

use super::scatter::{Scatter, Scratch};
use super::sum_rows::SumRows;
use crate::backend::flex::engine::{BAND, FEWEST_LANES, Planned, in_parallel, plan, run_tasks};
use crate::backend::flex::numbers::{Number, Sum, deinterleave};
use crate::backend::flex::pixels::{
    AlignedPixels, Features, LANES, LARGEST_TILE, LaneChannels, Rows, Tile, tile_capacity, zeros,
};
use crate::geometry::plan::{AxisPlan, Planner, Region, hull, pixel_count};

/// How many numbers the plans hold that are there at a time, 8 MiB of f32.
const PLANNED: usize = 1 << 21;

/// What is computed.
pub struct Call<'a, E: Number> {
    /// The gradient of the output, `[K, channels, P, Q]`, contiguous.
    pub gradient: &'a FlexTensor,
    /// `[N, C, H, W]`, whose rows are contiguous; any tensor where the kernel reads none.
    pub features: &'a FlexTensor,
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
    let mut memory = zeros::<O>(call.shape.num_elements(), parallel);
    let flat = Shape::new([count, channels, 1, rows * columns]);
    let flat = call.gradient.reshape(flat);
    let batch = batch::<S, E>(&call);
    for (number, regions) in call.regions.chunks(batch).enumerate() {
        let planned: Vec<Planned<[S::Plan; 2]>> = plan(regions, call.planner, parallel);
        let work = Work {
            kernel,
            features: &Features::<E>::new(call.features),
            gradient: &Features::<E>::new(&flat),
            first_region: number * batch,
            regions: &planned,
            planner: call.planner,
            width,
            adds: number > 0,
        };
        let tasks = work.divide(&mut memory, height * width, call.shape[1], channels);
        run_tasks(tasks, parallel, |task| {
            Arch::new().dispatch(Vectorized { work: &work, task })
        });
    }
    FlexTensor::new(Bytes::from_elems(memory), Layout::contiguous(call.shape), O::dtype())
}

/// What all tasks share.
struct Work<'a, E: Number, S: Scatter<E::Sum>> {
    kernel: &'a S,
    features: &'a Features<'a, E>,
    /// `[K, channels, 1, P * Q]`.
    gradient: &'a Features<'a, E>,
    /// The row of the first planned region.
    first_region: usize,
    regions: &'a [Planned<[S::Plan; 2]>],
    planner: &'a Planner<E::Sum>,
    /// The width of the map.
    width: usize,
    /// Whether sums are added to what earlier regions left.
    adds: bool,
}

/// Output channels of an image that read channels of their own in a run of elements.
struct Task<'a, O> {
    image: usize,
    /// Rows and columns of the output.
    elements: [Range<usize>; 2],
    /// The channels of the output.
    channels: Range<usize>,
    /// The gradient of each channel that these read.
    planes: Vec<&'a mut [O]>,
}

impl<E: Number, S: Scatter<E::Sum>> Work<'_, E, S> {
    /// Divides the gradient `memory` among tasks.
    fn divide<'a, O>(
        &self,
        memory: &'a mut [O],
        of_a_plane: usize,
        input_channels: usize,
        channels: usize,
    ) -> Vec<Task<'a, O>> {
        let mut planes: Vec<Option<&mut [O]>> = memory.chunks_exact_mut(of_a_plane).map(Some).collect();
        let (map, [_, columns]) = (self.planner.channel_map(), self.planner.output_size());
        let step = input_channels / channels;
        let mut tasks = Vec::new();
        for image in 0..planes.len() / input_channels {
            for rows in self.planner.runs(0) {
                for of_run in self.planner.runs(1) {
                    let first = image * input_channels + map.first_channel([rows.start, of_run.start], columns);
                    for start in (0..channels).step_by(LANES) {
                        let channels = start..(start + LANES).min(channels);
                        let planes = channels.clone().map(|channel| planes[first + channel * step].take());
                        tasks.push(Task {
                            image,
                            elements: [rows.clone(), of_run.clone()],
                            planes: planes
                                .map(|plane| plane.expect("a channel is read by one run"))
                                .collect(),
                            channels,
                        });
                    }
                }
            }
        }
        tasks
    }
}

/// What `pulp` is handed. All that it calls is inlined: only then is it compiled for these instructions.
struct Vectorized<'a, 'b, E: Number, O, S: Scatter<E::Sum>> {
    work: &'a Work<'a, E, S>,
    task: Task<'b, O>,
}

impl<E: Number, O: Number<Sum = E::Sum>, S: Scatter<E::Sum>> WithSimd for Vectorized<'_, '_, E, O, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        compute_task(simd, self.work, self.task);
    }
}

/// A region of a task's image, in the task's run of elements.
struct OfTask<'a, P> {
    plan: [&'a P; 2],
    /// Its row in the output.
    row: usize,
    window: [Range<usize>; 2],
}

#[inline(always)]
fn compute_task<E: Number, O: Number<Sum = E::Sum>, S: Scatter<E::Sum>>(
    simd: impl Simd,
    work: &Work<'_, E, S>,
    task: Task<'_, O>,
) {
    let of_image = work.regions.iter().filter(|region| region.image == task.image);
    let of_task = of_image.map(|region| OfTask {
        window: [0, 1].map(|axis| region.plan[axis].window_of(task.elements[axis].clone())),
        plan: region.plan.each_ref(),
        row: work.first_region + region.number,
    });
    let mut regions: Vec<_> = of_task.filter(|region| pixel_count(&region.window) > 0).collect();
    regions.sort_by_key(|region| (region.window[0].start, region.row));
    let columns = hull(regions.iter().map(|region| region.window[1].clone()));
    let Some(rows) = regions.iter().map(|region| region.window[0].len()).max() else {
        return;
    };
    if task.channels.len() < FEWEST_LANES || tile_capacity(&[0..rows, columns.clone()]) > LARGEST_TILE {
        let mut planes = task.planes.into_iter();
        for channel in task.channels {
            let planes = planes.by_ref().take(1).collect();
            let one = Task {
                channels: channel..channel + 1,
                planes,
                elements: task.elements.clone(),
                ..task
            };
            compute_lanes::<_, _, _, _, 1>(simd, work, one, &regions, rows, &columns);
        }
    } else {
        compute_lanes::<_, _, _, _, LANES>(simd, work, task, &regions, rows, &columns);
    }
}

/// Computes a task of at most `L` channels. `rows` is the largest number of rows of a window.
#[inline(always)]
fn compute_lanes<V: Simd, E: Number, O: Number<Sum = E::Sum>, S: Scatter<E::Sum>, const L: usize>(
    simd: V,
    work: &Work<'_, E, S>,
    mut task: Task<'_, O>,
    regions: &[OfTask<'_, S::Plan>],
    rows: usize,
    columns: &Range<usize>,
) {
    let [_, of_a_row] = work.planner.output_size();
    let [output_rows, output_columns] = task.elements.clone();
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
    let mut writer = RowWriter {
        columns: columns.clone(),
        width: work.width,
        adds: work.adds,
        lanes: AlignedPixels::new(),
    };
    sums.clear(rows, columns.clone());
    if S::READS_FEATURES {
        tile.clear(rows, columns.clone());
    }
    let of_a_band = (BAND / output_columns.len()).clamp(1, output_rows.len());
    for region in regions {
        let [window_rows, window_columns] = region.window.clone();
        sums.open(window_rows.clone(), |row, pixels| {
            writer.write(simd, row, pixels, &mut task.planes)
        });
        if S::READS_FEATURES {
            tile.load(simd, work.features, task.image, &input_lanes, window_rows);
        }
        for start in output_rows.clone().step_by(of_a_band) {
            let end = (start + of_a_band).min(output_rows.end);
            // A run is whole rows, or one element.
            let elements = start * of_a_row + output_columns.start..(end - 1) * of_a_row + output_columns.end;
            gradient.clear(1, elements.clone());
            gradient.load(simd, work.gradient, region.row, &output_lanes, 0..1);
            work.kernel.add(
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
}

/// Writes complete rows of sums to the planes of their channels.
struct RowWriter<S: Sum> {
    columns: Range<usize>,
    /// The width of a plane.
    width: usize,
    /// Whether they are added to what is there.
    adds: bool,
    /// A row, one channel after another.
    lanes: AlignedPixels<S, 1>,
}

impl<S: Sum> RowWriter<S> {
    #[inline(always)]
    fn write<O: Number<Sum = S>, const L: usize>(
        &mut self,
        simd: impl Simd,
        row: usize,
        pixels: &[[S; L]],
        planes: &mut [&mut [O]],
    ) {
        let count = pixels.len();
        let row = row * self.width + self.columns.start..row * self.width + self.columns.end;
        self.lanes.resize(planes.len() * count);
        let lanes = self.lanes.get_mut().as_flattened_mut();
        deinterleave(simd, pixels, lanes);
        for (plane, lane) in planes.iter_mut().zip(lanes.chunks_exact_mut(count)) {
            let row = &mut plane[row.clone()];
            if self.adds {
                for (sum, earlier) in lane.iter_mut().zip(O::widen(simd, row, &mut Vec::new())) {
                    *sum += *earlier;
                }
            }
            O::narrow(simd, lane, row);
        }
    }
}
