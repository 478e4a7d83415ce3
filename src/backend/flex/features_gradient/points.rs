//! The gradient of features by point plans.

use std::ops::Range;

use burn::tensor::{Bytes, Shape};
use burn_flex::{FlexTensor, Layout};
use pulp::{Scalar, Simd};

use super::row_writer::{Earlier, RowWriter};
use super::sum_rows::SumRows;
use super::tasks::{GradientTask, divide};
use crate::backend::flex::drive::{in_parallel, run_tasks, sort_by_key};
use crate::backend::flex::dtype::{Sum, TensorSliceMut, round_to};
use crate::backend::flex::lanes::{self, ChannelWork, LANES};
use crate::backend::flex::memory::zeros;
use crate::backend::flex::pixels::{LARGEST_TILE, LaneChannels, Planes, Rows, Tile};
use crate::backend::flex::planned::{Planned, plan_points_in_batches};
use crate::geometry::plan::{PointPart, PointPlanner, PointWeights, Region, hull, pixel_count};

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
    let mut earlier = Earlier::Zeros;
    plan_points_in_batches(regions, planner, parallel, |planned| {
        let pass = PointFeaturesPass {
            gradient: &gradient,
            width,
            earlier,
        };
        let groups: Vec<_> = (0..shape[0])
            .flat_map(|image| (0..planner.groups()).map(move |group| [image, group]))
            .map(|[image, group]| GroupRegions::of(&planned, image, group))
            .collect();
        // Channels that no region reads are 0 already, or have the sums of earlier batches.
        let read = groups.iter().filter(|group| !group.regions.is_empty());
        let first_and_step = |group: &GroupRegions<'_, S>| {
            let [first, step] = planner.channels_of_group(group.group, channels);
            [group.image * shape[1] + first, step]
        };
        let memory = TensorSliceMut::Sums(&mut memory);
        let (tasks, _) = divide(memory, height * width, channels, read, first_and_step);
        run_tasks(tasks, parallel, |task| pass.compute(task));
        earlier = Earlier::Sums;
    });
    let sums = FlexTensor::new(Bytes::from_elems(memory), Layout::contiguous(shape), S::dtype());
    round_to(sums, dtype)
}

/// What all tasks of a batch share.
struct PointFeaturesPass<'a, S: Sum> {
    /// `[K, channels, 1, P * Q]`.
    gradient: &'a Planes<'a, S>,
    width: usize,
    earlier: Earlier,
}

/// A group of channels of an image, and the regions that read it, from the top of the map to its bottom.
struct GroupRegions<'a, S> {
    image: usize,
    group: usize,
    regions: Vec<(&'a Planned<PointWeights<S>>, &'a PointPart)>,
    /// How many rows the tallest window has.
    rows: usize,
    /// The columns of all windows.
    columns: Range<usize>,
}

impl<'a, S: Sum> GroupRegions<'a, S> {
    fn of(planned: &'a [Planned<PointWeights<S>>], image: usize, group: usize) -> Self {
        let of_image = planned.iter().filter(|region| region.image == image);
        let parts = of_image.filter_map(|region| Some((region, region.plan.parts.get(group)?)));
        let mut regions: Vec<_> = parts.filter(|(_, part)| pixel_count(&part.window) > 0).collect();
        sort_by_key(&mut regions, |(region, part)| [part.window[0].start, region.row, 0]);
        Self {
            image,
            group,
            rows: regions.iter().map(|(_, part)| part.window[0].len()).max().unwrap_or(0),
            columns: hull(regions.iter().map(|(_, part)| part.window[1].clone())),
            regions,
        }
    }
}

impl<S: Sum> PointFeaturesPass<'_, S> {
    fn compute(&self, task: GradientTask<'_, GroupRegions<'_, S>, S>) {
        let channels = task.channels.len();
        let fits = task.regions.rows * task.regions.columns.len() <= LARGEST_TILE;
        lanes::compute_gradient::<S>(ScatterRegions { pass: self, task }, channels, fits);
    }
}

struct ScatterRegions<'a, 'b, S: Sum> {
    pass: &'a PointFeaturesPass<'a, S>,
    task: GradientTask<'b, GroupRegions<'b, S>, S>,
}

impl<S: Sum> ChannelWork for ScatterRegions<'_, '_, S> {
    #[inline(always)]
    fn in_lanes(self, simd: impl Simd) {
        compute_in_lanes::<_, LANES>(simd, self.pass, self.task);
    }

    /// It sums in rows, too: a region as large as the map takes a plane of sums in each thread.
    #[inline(never)]
    fn one_by_one(self) {
        for one in self.task.one_by_one() {
            compute_in_lanes::<_, 1>(Scalar::new(), self.pass, one);
        }
    }
}

/// Computes a task of at most `L` channels.
#[inline(always)]
fn compute_in_lanes<S: Sum, const L: usize>(
    simd: impl Simd,
    pass: &PointFeaturesPass<'_, S>,
    mut task: GradientTask<'_, GroupRegions<'_, S>, S>,
) {
    let GroupRegions {
        regions, rows, columns, ..
    } = task.regions;
    let mut sums = SumRows::<S, L>::default();
    let mut gradient = Tile::<S, L>::default();
    let mut writer = RowWriter::new(columns.clone(), pass.width, pass.earlier);
    let lanes = LaneChannels::adjacent(task.channels.start, task.channels.len());
    sums.clear(*rows, columns.clone());
    for (region, part) in regions {
        sums.open(part.window[0].clone(), |row, pixels| {
            writer.write(simd, row, pixels, &mut task.planes)
        });
        gradient.clear(1, part.elements.clone());
        gradient.load(simd, pass.gradient, region.row, &lanes, 0..1);
        let element_gradients = gradient.row(0, part.elements.clone());
        // A copy, which the compiler keeps in a register.
        for (read, element_gradient) in region.plan.elements(part).zip(element_gradients.iter().copied()) {
            let mut weights = &region.plan.weights[read.weights];
            for span in read.spans {
                let (span_weights, rest) = weights.split_at(span.count as usize);
                weights = rest;
                for (&weight, sum) in span_weights.iter().zip(sums.row(span.row as usize, span.columns())) {
                    S::add_weighted(sum, weight, &element_gradient);
                }
            }
        }
    }
    sums.close(|row, pixels| writer.write(simd, row, pixels, &mut task.planes));
}
