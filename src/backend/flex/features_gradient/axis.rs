//! The gradient of features by axis plans.

use burn::tensor::{DType, Shape};
use burn_flex::{FlexTensor, Layout};
use pulp::{Scalar, Simd};

use super::row_writer::{Earlier, RowWriter};
use super::runs::{ImageRun, image_runs};
use super::scatter::{GradientScratch, Reads, Scatter};
use super::sum_rows::SumRows;
use super::tasks::{GradientTask, divide};
use crate::backend::flex::drive::{in_parallel, run_tasks};
use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::forward::rows_of_a_band;
use crate::backend::flex::lanes::{self, ChannelWork, LANES};
use crate::backend::flex::memory::Memory;
use crate::backend::flex::pixels::{LaneChannels, Planes, Rows, Tile};
use crate::backend::flex::planned::{Planned, channels_of_run, element_indices, plan_axes};
use crate::geometry::plan::{AxisPlan, Planner, Region};

/// The most elements in the plans of a batch: 8 MiB of f32.
const PLAN_ELEMENTS: usize = 1 << 21;

/// What the gradient is computed from.
pub struct FeaturesGradientInputs<'a, S: Sum> {
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

/// Whether all regions are one batch, so that every sum is complete before it is rounded.
pub fn is_one_batch<S: Sum, K: Scatter<S>>(inputs: &FeaturesGradientInputs<'_, S>) -> bool {
    inputs.regions.len() <= batch::<S, K>(inputs)
}

fn batch<S: Sum, K: Scatter<S>>(inputs: &FeaturesGradientInputs<'_, S>) -> usize {
    (PLAN_ELEMENTS / K::Plan::size(inputs.planner)).max(1)
}

/// The gradient in `dtype`: the dtype of the features, or of the sums if there are several batches.
pub fn features_gradient<S: Sum, K: Scatter<S>>(
    inputs: FeaturesGradientInputs<'_, S>,
    kernel: &K,
    dtype: DType,
) -> FlexTensor {
    let [_, _, height, width] = inputs.shape.dims();
    let [count, channels, rows, columns] = inputs.gradient.layout().shape().dims();
    let parallel = in_parallel(inputs.gradient.layout().num_elements());
    let memory = Memory::new(dtype, inputs.shape.num_elements(), parallel);
    let before = if memory.is_zero {
        Earlier::Zeros
    } else {
        Earlier::Unspecified
    };
    let mut output = FlexTensor::new(memory.bytes, Layout::contiguous(inputs.shape.clone()), dtype);
    let flat = inputs
        .gradient
        .reshape(Shape::new([count, channels, 1, rows * columns]));
    let batch = batch::<S, K>(&inputs);
    for (index, regions) in inputs.regions.chunks(batch).enumerate() {
        let planned: Vec<Planned<[K::Plan; 2]>> = plan_axes(regions, inputs.planner, parallel);
        let pass = AxisFeaturesPass {
            kernel,
            features: &Planes::new(inputs.features),
            gradient: &Planes::new(&flat),
            planner: inputs.planner,
            width,
            earlier: if index == 0 { before } else { Earlier::Sums },
        };
        let runs = image_runs(&planned, index * batch, inputs.planner, inputs.shape[0], parallel);
        let first_and_step = |run: &ImageRun<'_, K::Plan>| {
            let [first, step] = channels_of_run(inputs.planner, &run.elements);
            [run.image * inputs.shape[1] + first, step]
        };
        let memory = TensorSliceMut::of(&mut output);
        let (tasks, rest) = divide(memory, height * width, channels, runs.iter(), first_and_step);
        assert!(rest.is_empty(), "a run reads every channel");
        run_tasks(tasks, parallel, |task| compute(&pass, task));
    }
    output
}

/// What all tasks of a batch share.
struct AxisFeaturesPass<'a, S: Sum, K> {
    kernel: &'a K,
    features: &'a Planes<'a, S>,
    /// `[K, channels, 1, P * Q]`.
    gradient: &'a Planes<'a, S>,
    planner: &'a Planner<S>,
    width: usize,
    earlier: Earlier,
}

fn compute<S: Sum, K: Scatter<S>>(pass: &AxisFeaturesPass<'_, S, K>, task: GradientTask<'_, ImageRun<'_, K::Plan>, S>) {
    let (run, channels) = (task.regions, task.channels.len());
    let fits = run.rows * run.columns.len() <= K::LARGEST_TILE;
    lanes::compute_gradient::<S>(ScatterRegions { pass, task }, channels, fits);
}

struct ScatterRegions<'a, 'b, S: Sum, K: Scatter<S>> {
    pass: &'a AxisFeaturesPass<'a, S, K>,
    task: GradientTask<'b, ImageRun<'b, K::Plan>, S>,
}

impl<S: Sum, K: Scatter<S>> ChannelWork for ScatterRegions<'_, '_, S, K> {
    #[inline(always)]
    fn in_lanes(self, simd: impl Simd) {
        compute_lanes::<_, _, _, LANES>(simd, self.pass, self.task);
    }

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
    pass: &AxisFeaturesPass<'_, S, K>,
    mut task: GradientTask<'_, ImageRun<'_, K::Plan>, S>,
) {
    let ImageRun {
        image,
        elements,
        regions,
        rows,
        columns,
    } = task.regions;
    let [_, width] = pass.planner.output_size();
    let [output_rows, output_columns] = elements.clone();
    let (start, count) = (task.channels.start, task.channels.len());
    let input_lanes = LaneChannels::of_outputs(channels_of_run(pass.planner, elements), start, count);
    let output_lanes = LaneChannels::adjacent(start, count);
    let mut sums = SumRows::<S, L>::default();
    let mut tile = Tile::<S, L>::default();
    let mut gradient = Tile::<S, L>::default();
    let mut scratch = GradientScratch::default();
    let mut writer = RowWriter::new(columns.clone(), pass.width, pass.earlier);
    sums.clear(*rows, columns.clone());
    let reads = pass.kernel.reads();
    if reads == Reads::Pixels {
        tile.clear(*rows, columns.clone());
    }
    let band_rows = rows_of_a_band(output_rows.len(), output_columns.len());
    for region in regions {
        let [window_rows, window_columns] = region.window.clone();
        sums.open(window_rows.clone(), |row, pixels| {
            writer.write(simd, row, pixels, &mut task.planes)
        });
        match reads {
            Reads::Nothing => {}
            Reads::Pixels => tile.load(simd, pass.features, *image, &input_lanes, window_rows),
            Reads::Keys => scratch.load_keys(simd, pass.features, *image, &input_lanes, window_rows, &sums),
        }
        for start in output_rows.clone().step_by(band_rows) {
            let band = start..(start + band_rows).min(output_rows.end);
            let indices = element_indices([&band, &output_columns], width);
            gradient.clear(1, indices.clone());
            gradient.load(simd, pass.gradient, region.row, &output_lanes, 0..1);
            pass.kernel.add(
                simd,
                region.plan,
                [band, output_columns.clone()],
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
