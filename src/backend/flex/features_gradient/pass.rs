//! The way from a call to its tasks, and how a task is computed.

use burn::backend::Flex;
use burn::tensor::Shape;
use burn_flex::{FlexTensor, Layout};
use pulp::{Scalar, Simd};

use super::row_writer::{Earlier, RowWriter};
use super::scatter::{GradientScratch, Reads, Scatter};
use super::sum_rows::SumRows;
use super::tasks::{GradientTask, divide, group_regions};
use crate::backend::RegionCall;
use crate::backend::flex::drive::{in_parallel, run_tasks};
use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::lanes::{self, BAND, ChannelWork, LANES};
use crate::backend::flex::memory::Memory;
use crate::backend::flex::output::rounded_output;
use crate::backend::flex::pixels::{LaneChannels, Planes, Rows, Tile};
use crate::backend::flex::planned::{RegionPlan, plan_in_batches};
use crate::geometry::plan::Planner;

/// The gradient of features, in the dtype of the output's, `[K, channels, P, Q]`. `gradient` is contiguous, and
/// `features` have contiguous rows; they are any tensor where the kernel reads none.
pub fn scatter<S: Sum, K: Scatter<S>>(
    gradient: &FlexTensor,
    features: &FlexTensor,
    call: &RegionCall<Flex>,
    planner: &Planner<S>,
    kernel: &K,
) -> FlexTensor {
    let (regions, shape) = (call.host_regions(), call.features_shape);
    let [count, channels, rows, columns] = gradient.layout().shape().dims();
    let parallel = in_parallel(gradient.layout().num_elements());
    // Sums of several batches are rounded after the last one.
    let dtype = match regions.len() <= K::Plan::chunk(planner, K::PLAN_NUMBERS) {
        true => gradient.dtype(),
        false => S::dtype(),
    };
    let memory = Memory::new(dtype, shape.iter().product(), parallel);
    let mut earlier = match memory.is_zero {
        true => Earlier::Zeros,
        false => Earlier::Unspecified,
    };
    let mut output = FlexTensor::new(memory.bytes, Layout::contiguous(Shape::new(shape)), dtype);
    let flat = gradient.reshape(Shape::new([count, channels, 1, rows * columns]));
    plan_in_batches(regions, planner, K::PLAN_NUMBERS, parallel, |planned| {
        let pass = FeaturesPass {
            kernel,
            features: &Planes::new(features),
            gradient: &Planes::new(&flat),
            width: shape[3],
            earlier,
        };
        let groups = group_regions(&planned, planner, shape[0], parallel);
        let tasks = divide(TensorSliceMut::of(&mut output), shape, channels, &groups);
        run_tasks(tasks, parallel, |task| pass.compute(task));
        earlier = Earlier::Sums;
    });
    rounded_output::<S>(output, gradient.dtype(), parallel)
}

/// What all tasks of a batch share.
struct FeaturesPass<'a, S: Sum, K> {
    kernel: &'a K,
    features: &'a Planes<'a, S>,
    /// `[K, channels, 1, P * Q]`.
    gradient: &'a Planes<'a, S>,
    width: usize,
    earlier: Earlier,
}

impl<S: Sum, K: Scatter<S>> FeaturesPass<'_, S, K> {
    fn compute(&self, task: GradientTask<'_, K::Plan, S>) {
        let (regions, channels) = (task.regions, task.channels.len());
        let fits = regions.rows * regions.columns.len() <= K::LARGEST_TILE;
        lanes::compute_gradient::<S>(ScatterRegions { pass: self, task }, channels, fits);
    }
}

struct ScatterRegions<'a, S: Sum, K: Scatter<S>> {
    pass: &'a FeaturesPass<'a, S, K>,
    task: GradientTask<'a, K::Plan, S>,
}

impl<S: Sum, K: Scatter<S>> ChannelWork for ScatterRegions<'_, S, K> {
    #[inline(always)]
    fn in_lanes(self, simd: impl Simd) {
        compute_lanes::<_, _, _, LANES>(simd, self.pass, self.task);
    }

    /// It sums in rows, too: a region as large as the map takes a plane of sums in each thread.
    #[inline(never)]
    fn one_by_one(self) {
        for one in self.task.one_by_one() {
            compute_lanes::<_, _, _, 1>(Scalar::new(), self.pass, one);
        }
    }
}

/// Computes a task of at most `L` channels.
#[inline(always)]
fn compute_lanes<V: Simd, S: Sum, K: Scatter<S>, const L: usize>(
    simd: V,
    pass: &FeaturesPass<'_, S, K>,
    mut task: GradientTask<'_, K::Plan, S>,
) {
    let all = task.regions;
    let input_lanes = LaneChannels::of_group(all.group, &task.channels);
    let output_lanes = LaneChannels::adjacent(&task.channels);
    let mut sums = SumRows::<S, L>::default();
    let mut tile = Tile::<S, L>::default();
    let mut gradient = Tile::<S, L>::default();
    let mut scratch = GradientScratch::default();
    let mut writer = RowWriter::new(all.columns.clone(), pass.width, pass.earlier);
    sums.clear(all.rows, all.columns.clone());
    let reads = pass.kernel.reads();
    if reads == Reads::Pixels {
        tile.clear(all.rows, all.columns.clone());
    }
    for (index, (region, [window_rows, window_columns])) in all.regions.iter().enumerate() {
        // Regions lie in any order in the gradient of the output, and no processor foresees which is next. Waiting for
        // it took a sixth of box-p2's gradient.
        if let Some((next, _)) = all.regions.get(index + 1) {
            pass.gradient.prefetch(next.row, &task.channels, &all.group.indices());
        }
        sums.open(window_rows.clone(), |row, pixels| {
            writer.write(simd, row, pixels, &mut task.planes)
        });
        match reads {
            Reads::Nothing => {}
            Reads::Pixels => tile.load(simd, pass.features, all.image, &input_lanes, window_rows.clone()),
            Reads::Keys => scratch.load_keys(simd, pass.features, all.image, &input_lanes, window_rows.clone(), &sums),
        }
        for band in all.group.bands(BAND) {
            let indices = pass.kernel.elements(&region.plan, &band);
            gradient.clear(1, indices.clone());
            gradient.load(simd, pass.gradient, region.row, &output_lanes, 0..1);
            pass.kernel.add(
                simd,
                &region.plan,
                &band,
                window_columns.clone(),
                gradient.row(0, indices),
                &tile,
                &mut scratch,
                &mut sums,
            );
        }
    }
    sums.close(|row, pixels| writer.write(simd, row, pixels, &mut task.planes));
    writer.finish(&mut task.planes);
}
