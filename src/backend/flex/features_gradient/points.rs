//! The gradient of features by point plans.

use std::ops::Range;

use burn::tensor::{Bytes, Shape};
use burn_flex::{FlexTensor, Layout};
use pulp::{Scalar, Simd};

use crate::backend::flex::drive::{in_parallel, run_tasks};
use crate::backend::flex::dtype::{Sum, round_to};
use crate::backend::flex::lanes::{self, ChannelWork, LANES};
use crate::backend::flex::memory::{AlignedPixels, zeros};
use crate::backend::flex::pixels::{LARGEST_TILE, LaneChannels, Planes, Rows, Tile};
use crate::backend::flex::planned::{Planned, plan_points_in_batches};
use crate::backend::flex::simd::deinterleave;
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
    // Sums of several batches are rounded after the last one.
    let mut memory = zeros::<S>(shape.num_elements(), parallel);
    let flat = gradient.reshape(Shape::new([count, channels, 1, rows * columns]));
    let dtype = gradient.dtype();
    let gradient = Planes::new(&flat);
    plan_points_in_batches(regions, planner, parallel, |planned| {
        let pass = PointFeaturesPass {
            gradient: &gradient,
            regions: &planned,
            planner,
            channels,
            width,
        };
        let tasks = pass.divide(&mut memory, height * width, shape[1]);
        run_tasks(tasks, parallel, |task| pass.compute(task));
    });
    let sums = FlexTensor::new(Bytes::from_elems(memory), Layout::contiguous(shape), S::dtype());
    round_to(sums, dtype)
}

/// What all tasks of a batch share.
struct PointFeaturesPass<'a, S: Sum> {
    /// `[K, channels, 1, P * Q]`.
    gradient: &'a Planes<'a, S>,
    regions: &'a [Planned<PointWeights<S>>],
    planner: &'a PointPlanner,
    /// The channels of the output.
    channels: usize,
    width: usize,
}

/// Output channels of an image that read channels of one group.
struct GroupChannels<'a, S> {
    image: usize,
    group: usize,
    /// The channels of the output.
    channels: Range<usize>,
    /// The gradient of each channel that these read.
    planes: Vec<&'a mut [S]>,
}

impl<S: Sum> PointFeaturesPass<'_, S> {
    /// Divides the gradient `memory` among tasks. Channels that no output channel reads belong to none.
    fn divide<'a>(
        &self,
        memory: &'a mut [S],
        plane_elements: usize,
        input_channels: usize,
    ) -> Vec<GroupChannels<'a, S>> {
        let mut planes: Vec<Option<&mut [S]>> = memory.chunks_exact_mut(plane_elements).map(Some).collect();
        let mut tasks = Vec::new();
        for image in 0..planes.len() / input_channels {
            for group in 0..self.planner.groups() {
                let [first, step] = self.planner.channels_of_group(group, self.channels);
                for start in (0..self.channels).step_by(LANES) {
                    let channels = start..(start + LANES).min(self.channels);
                    let planes = channels
                        .clone()
                        .map(|channel| planes[image * input_channels + first + channel * step].take());
                    tasks.push(GroupChannels {
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

    fn compute(&self, task: GroupChannels<'_, S>) {
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
        let (channels, fits) = (task.channels.len(), pixel_count(&window) <= LARGEST_TILE);
        let (pass, window) = (self, &window);
        lanes::compute_gradient::<S>(ScatterRegions { pass, task, window }, channels, fits);
    }
}

struct ScatterRegions<'a, 'b, S: Sum> {
    pass: &'a PointFeaturesPass<'a, S>,
    task: GroupChannels<'b, S>,
    /// The hull of what all regions read.
    window: &'a [Range<usize>; 2],
}

impl<S: Sum> ChannelWork for ScatterRegions<'_, '_, S> {
    #[inline(always)]
    fn in_lanes(self, simd: impl Simd) {
        compute_in_lanes(simd, self.pass, self.task, self.window);
    }

    /// Straight to the planes.
    #[inline(never)]
    fn one_by_one(self) {
        let Self { pass, task, .. } = self;
        let mut gradient = Tile::<S, 1>::default();
        for (channel, plane) in task.channels.zip(task.planes) {
            let lane = LaneChannels::one(channel);
            for region in pass.regions.iter().filter(|region| region.image == task.image) {
                let Some(part) = region.plan.parts.get(task.group) else {
                    continue;
                };
                gradient.clear(1, part.elements.clone());
                gradient.load(Scalar::new(), pass.gradient, region.row, &lane, 0..1);
                for (read, &[element_gradient]) in
                    region.plan.elements(part).zip(gradient.row(0, part.elements.clone()))
                {
                    let mut weights = region.plan.weights[read.weights].iter();
                    for span in read.spans {
                        let first = span.row as usize * pass.width + span.column as usize;
                        for (sum, &weight) in plane[first..first + span.count as usize].iter_mut().zip(&mut weights) {
                            *sum += weight * element_gradient;
                        }
                    }
                }
            }
        }
    }
}

/// Several channels at a time, summed in a window that holds the pixels that all regions read.
#[inline(always)]
fn compute_in_lanes<S: Sum>(
    simd: impl Simd,
    pass: &PointFeaturesPass<'_, S>,
    mut task: GroupChannels<'_, S>,
    [rows, columns]: &[Range<usize>; 2],
) {
    let mut sums = AlignedPixels::<S, LANES>::default();
    sums.resize(rows.len() * columns.len());
    let sums = sums.get_mut();
    sums.fill([S::default(); LANES]);
    let mut gradient = Tile::<S, LANES>::default();
    let lanes = LaneChannels::adjacent(task.channels.start, task.channels.len());
    for region in pass.regions.iter().filter(|region| region.image == task.image) {
        if let Some(part) = region.plan.parts.get(task.group) {
            gradient.clear(1, part.elements.clone());
            gradient.load(simd, pass.gradient, region.row, &lanes, 0..1);
            let element_gradients = gradient.row(0, part.elements.clone());
            // A copy, which the compiler keeps in a register.
            for (read, element_gradient) in region.plan.elements(part).zip(element_gradients.iter().copied()) {
                let mut weights = &region.plan.weights[read.weights];
                for span in read.spans {
                    let (span_weights, rest) = weights.split_at(span.count as usize);
                    weights = rest;
                    let first = (span.row as usize - rows.start) * columns.len() + span.column as usize - columns.start;
                    for (&weight, sum) in span_weights.iter().zip(&mut sums[first..first + span_weights.len()]) {
                        S::add_weighted(sum, weight, &element_gradient);
                    }
                }
            }
        }
    }
    write(simd, sums, pass.width, [rows, columns], &mut task.planes);
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
    let mut lanes = AlignedPixels::<S, 1>::default();
    lanes.resize(planes.len() * columns.len());
    for (row, sums) in rows.clone().zip(sums.chunks_exact(columns.len())) {
        let lanes = lanes.get_mut().as_flattened_mut();
        deinterleave(simd, sums, lanes);
        let indices = row * width + columns.start..row * width + columns.end;
        for (plane, lane) in planes.iter_mut().zip(lanes.chunks_exact(columns.len())) {
            for (sum, &further) in plane[indices.clone()].iter_mut().zip(lane) {
                *sum += further;
            }
        }
    }
}
