//! The gradient of features: a task owns some channels of an image and walks its regions in one order, so sums have the
//! same bits whatever the number of threads.

use std::ops::Range;

use burn::tensor::{Bytes, Shape};
use burn_flex::{FlexTensor, Layout};
use pulp::{Scalar, Simd, WithSimd};

use super::forward::lane_channels;
use super::in_batches;
use crate::backend::flex::backward::in_dtype;
use crate::backend::flex::drive::{in_parallel, run_tasks};
use crate::backend::flex::engine::{FEWEST_LANES, Planned};
use crate::backend::flex::kernels::add;
use crate::backend::flex::numbers::{Sum, deinterleave, dispatch_gradient, has_lanes};
use crate::backend::flex::pixels::{AlignedPixels, Features, LANES, LARGEST_TILE, Rows, Tile, zeros};
use crate::geometry::plan::{PointPlanner, PointWeights, Region, hull, pixel_count};

/// The gradient of features of a shape. `gradient` is contiguous.
pub fn features_gradient<S: Sum>(
    gradient: &FlexTensor,
    shape: Shape,
    regions: &[Region],
    planner: &PointPlanner,
) -> FlexTensor {
    let [count, channels, rows, columns] = gradient.layout().shape().dims();
    let [_, _, height, width] = shape.dims();
    let parallel = in_parallel(gradient.layout().num_elements());
    // Sums of several batches are rounded after all of them.
    let mut memory = zeros::<S>(shape.num_elements(), parallel);
    let flat = gradient.reshape(Shape::new([count, channels, 1, rows * columns]));
    let dtype = gradient.dtype();
    let gradient = Features::new(&flat);
    in_batches(regions, planner, parallel, |planned| {
        let work = Work {
            gradient: &gradient,
            regions: &planned,
            planner,
            channels,
            width,
        };
        let tasks = work.divide(&mut memory, height * width, shape[1]);
        run_tasks(tasks, parallel, |task| work.compute(task));
    });
    let sums = FlexTensor::new(Bytes::from_elems(memory), Layout::contiguous(shape), S::dtype());
    in_dtype(sums, dtype)
}

/// What all tasks share.
struct Work<'a, S: Sum> {
    /// `[K, channels, 1, P * Q]`.
    gradient: &'a Features<'a, S>,
    regions: &'a [Planned<PointWeights<S>>],
    planner: &'a PointPlanner,
    /// The channels of the output.
    channels: usize,
    /// The width of the map.
    width: usize,
}

/// Output channels of an image that read channels of one group.
struct Task<'a, S> {
    image: usize,
    group: usize,
    /// The channels of the output.
    channels: Range<usize>,
    /// The gradient of each channel that these read.
    planes: Vec<&'a mut [S]>,
}

impl<S: Sum> Work<'_, S> {
    /// Divides the gradient `memory` among tasks. Channels that no output channel reads belong to none.
    fn divide<'a>(&self, memory: &'a mut [S], of_a_plane: usize, input_channels: usize) -> Vec<Task<'a, S>> {
        let mut planes: Vec<Option<&mut [S]>> = memory.chunks_exact_mut(of_a_plane).map(Some).collect();
        let mut tasks = Vec::new();
        for image in 0..planes.len() / input_channels {
            for group in 0..self.planner.groups() {
                let [first, step] = self.planner.channels_of_group(group, self.channels);
                for start in (0..self.channels).step_by(LANES) {
                    let channels = start..(start + LANES).min(self.channels);
                    let planes = channels
                        .clone()
                        .map(|channel| planes[image * input_channels + first + channel * step].take());
                    tasks.push(Task {
                        image,
                        group,
                        planes: planes.map(|plane| plane.expect("one group reads a channel")).collect(),
                        channels,
                    });
                }
            }
        }
        tasks
    }

    fn compute(&self, task: Task<'_, S>) {
        let window = [0, 1].map(|axis| {
            hull(
                self.regions
                    .iter()
                    .filter(|region| region.image == task.image)
                    .flat_map(|region| {
                        let parts = region.plan.parts.get(task.group).into_iter();
                        parts.map(move |part| part.window[axis].clone())
                    }),
            )
        });
        if pixel_count(&window) == 0 {
            return;
        }
        if task.channels.len() < FEWEST_LANES || pixel_count(&window) > LARGEST_TILE {
            add_one_by_one(self, task);
        } else {
            dispatch_gradient::<S, _>(Vectorized {
                work: self,
                task,
                window: &window,
            });
        }
    }
}

/// What `pulp` is handed. All that it calls is inlined: only then is it compiled for these instructions.
struct Vectorized<'a, 'b, S: Sum> {
    work: &'a Work<'a, S>,
    task: Task<'b, S>,
    window: &'a [Range<usize>; 2],
}

impl<S: Sum> WithSimd for Vectorized<'_, '_, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        if const { has_lanes::<V>() } {
            compute_in_lanes(simd, self.work, self.task, self.window);
        } else {
            add_one_by_one(self.work, self.task);
        }
    }
}

/// Several channels at a time, by way of their sums in a window that holds what all regions read.
#[inline(always)]
fn compute_in_lanes<S: Sum>(
    simd: impl Simd,
    work: &Work<'_, S>,
    mut task: Task<'_, S>,
    [rows, columns]: &[Range<usize>; 2],
) {
    let mut sums = AlignedPixels::<S, LANES>::new();
    sums.resize(rows.len() * columns.len());
    let sums = sums.get_mut();
    sums.fill([S::default(); LANES]);
    let mut gradient = Tile::<S, LANES>::new();
    let lanes = lane_channels([0, 1], task.channels.start, task.channels.len());
    for region in work.regions.iter().filter(|region| region.image == task.image) {
        if let Some(part) = region.plan.parts.get(task.group) {
            gradient.clear(1, part.elements.clone());
            gradient.load(simd, work.gradient, region.number, &lanes, 0..1);
            let of_elements = gradient.row(0, part.elements.clone());
            // A copy, which the compiler keeps in a register.
            for (read, of_element) in region.plan.elements(part).zip(of_elements.iter().copied()) {
                let mut weights = &region.plan.weights[read.weights];
                for span in read.spans {
                    let (of_span, rest) = weights.split_at(span.count as usize);
                    weights = rest;
                    let first = (span.row as usize - rows.start) * columns.len() + span.column as usize - columns.start;
                    for (&weight, sum) in of_span.iter().zip(&mut sums[first..first + of_span.len()]) {
                        add(sum, weight, &of_element);
                    }
                }
            }
        }
    }
    write(simd, sums, work.width, [rows, columns], &mut task.planes);
}

/// One channel after another, straight to its plane. So few numbers gain little from vectors: it is compiled without.
#[inline(never)]
fn add_one_by_one<S: Sum>(work: &Work<'_, S>, task: Task<'_, S>) {
    let mut gradient = Tile::<S, 1>::new();
    for (channel, plane) in task.channels.zip(task.planes) {
        let lane = lane_channels([0, 1], channel, 1);
        for region in work.regions.iter().filter(|region| region.image == task.image) {
            let Some(part) = region.plan.parts.get(task.group) else {
                continue;
            };
            gradient.clear(1, part.elements.clone());
            gradient.load(Scalar::new(), work.gradient, region.number, &lane, 0..1);
            for (read, &[of_element]) in region.plan.elements(part).zip(gradient.row(0, part.elements.clone())) {
                let mut weights = region.plan.weights[read.weights].iter();
                for span in read.spans {
                    let first = span.row as usize * work.width + span.column as usize;
                    for (sum, &weight) in plane[first..first + span.count as usize].iter_mut().zip(&mut weights) {
                        *sum += weight * of_element;
                    }
                }
            }
        }
    }
}

/// Adds sums to the planes of their channels.
#[inline(always)]
fn write<S: Sum, const L: usize>(
    simd: impl Simd,
    sums: &[[S; L]],
    width: usize,
    [rows, columns]: [&Range<usize>; 2],
    planes: &mut [&mut [S]],
) {
    let mut lanes = AlignedPixels::<S, 1>::new();
    lanes.resize(planes.len() * columns.len());
    for (row, sums) in rows.clone().zip(sums.chunks_exact(columns.len())) {
        let lanes = lanes.get_mut().as_flattened_mut();
        deinterleave(simd, sums, lanes);
        let place = row * width + columns.start..row * width + columns.end;
        for (plane, lane) in planes.iter_mut().zip(lanes.chunks_exact(columns.len())) {
            for (sum, &further) in plane[place.clone()].iter_mut().zip(lane) {
                *sum += further;
            }
        }
    }
}
