//! The gradient of boxes by axis plans.

use std::ops::Range;

use burn::tensor::{Bytes, Shape};
use burn_flex::{FlexTensor, Layout};
use pulp::{Scalar, Simd};

use crate::backend::flex::drive::{filter_map, in_parallel};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::features_gradient::scatter::GradientScratch;
use crate::backend::flex::lanes::{self, ChannelWork, LANES};
use crate::backend::flex::pixels::{LARGEST_TILE, LaneChannels, Planes, Rows, Tile};
use crate::backend::flex::planned::{channels_of_run, element_indices};
use crate::geometry::options::BoxFormat;
use crate::geometry::plan::{AxisPlan, Planner, Region, pixel_count};

/// The gradient of the y1, y2 and x1, x2 of a box.
pub type EndGradients = [[f64; 2]; 2];

/// How the gradient of output elements goes to the ends of their box.
pub trait PullEnds<S: Sum>: Sync {
    /// The plan of an axis of a region, for all channels.
    type Plan: AxisPlan<S>;

    /// Adds the products of the gradient of all elements of a run in `L` channels. `columns` are the columns of its
    /// window, and `features` has the window's pixels.
    fn add<const L: usize>(
        &self,
        plan: [&Self::Plan; 2],
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut GradientScratch<S, L>,
        end_gradients: &mut EndGradients,
    );
}

/// What the gradient is computed from.
pub struct BoxesGradientInputs<'a, S: Sum> {
    /// The gradient of the output, `[K, channels, P, Q]`, contiguous.
    pub gradient: &'a FlexTensor,
    /// `[N, C, H, W]`, whose rows are contiguous.
    pub features: &'a FlexTensor,
    pub regions: &'a [Region],
    pub planner: &'a Planner<S>,
    pub box_format: BoxFormat,
}

/// The gradient `[K, 4]` of the boxes, in the dtype of sums.
pub fn boxes_gradient<S: Sum, K: PullEnds<S>>(inputs: BoxesGradientInputs<'_, S>, kernel: &K) -> FlexTensor {
    let [count, channels, height, width] = inputs.gradient.layout().shape().dims();
    let parallel = in_parallel(inputs.gradient.layout().num_elements());
    let flat = inputs
        .gradient
        .reshape(Shape::new([count, channels, 1, height * width]));
    let pass = AxisRegionsPass {
        kernel,
        features: &Planes::new(inputs.features),
        gradient: &Planes::new(&flat),
        planner: inputs.planner,
        channels,
    };
    let gradients = filter_map(inputs.regions, 1, parallel, |row, region| {
        let mut gradient = [S::default(); 4];
        let end_gradients = pass.end_gradients(row, region);
        for (box_columns, end_gradients) in inputs.box_format.columns().iter().zip(end_gradients) {
            for (&column, end_gradient) in box_columns.iter().zip(end_gradients) {
                gradient[column] = S::from_f64(end_gradient);
            }
        }
        Some(gradient)
    });
    FlexTensor::new(
        Bytes::from_elems(gradients.into_flattened()),
        Layout::contiguous(Shape::new([count, 4])),
        S::dtype(),
    )
}

struct AxisRegionsPass<'a, S: Sum, K> {
    kernel: &'a K,
    features: &'a Planes<'a, S>,
    /// `[K, channels, 1, P * Q]`.
    gradient: &'a Planes<'a, S>,
    planner: &'a Planner<S>,
    /// The channels of the output.
    channels: usize,
}

impl<S: Sum, K: PullEnds<S>> AxisRegionsPass<'_, S, K> {
    /// The gradient of the ends of the region in a row of the output.
    fn end_gradients(&self, row: usize, region: &Region) -> EndGradients {
        let mut end_gradients = EndGradients::default();
        if !self.planner.pools(region) {
            return end_gradients;
        }
        let [runs_y, runs_x] = [0, 1].map(|axis| self.planner.runs(axis));
        for rows in runs_y {
            let y = K::Plan::make(&self.planner.run(region, 0, rows.clone(), true));
            for columns in runs_x.clone() {
                let x = K::Plan::make(&self.planner.run(region, 1, columns.clone(), true));
                let window = [y.window(), x.window()];
                if pixel_count(&window) == 0 {
                    continue;
                }
                let fits = pixel_count(&window) <= LARGEST_TILE;
                let run = ElementRun {
                    pass: self,
                    plan: [&y, &x],
                    row,
                    image: region.image,
                    window,
                    elements: [rows.clone(), columns],
                    end_gradients: &mut end_gradients,
                };
                lanes::compute_gradient::<S>(run, self.channels, fits);
            }
        }
        end_gradients
    }
}

/// A run of a region's elements that read the same channels.
struct ElementRun<'a, S: Sum, K: PullEnds<S>> {
    pass: &'a AxisRegionsPass<'a, S, K>,
    plan: [&'a K::Plan; 2],
    /// The region's row in the output.
    row: usize,
    image: usize,
    window: [Range<usize>; 2],
    /// Rows and columns of the output.
    elements: [Range<usize>; 2],
    /// What its gradient is added to.
    end_gradients: &'a mut EndGradients,
}

impl<S: Sum, K: PullEnds<S>> ChannelWork for ElementRun<'_, S, K> {
    #[inline(always)]
    fn in_lanes(self, simd: impl Simd) {
        add_run::<_, _, _, LANES>(simd, self);
    }

    #[inline(never)]
    fn one_by_one(self) {
        add_run::<_, _, _, 1>(Scalar::new(), self);
    }
}

#[inline(always)]
fn add_run<V: Simd, S: Sum, K: PullEnds<S>, const L: usize>(simd: V, run: ElementRun<'_, S, K>) {
    let pass = run.pass;
    let [output_rows, output_columns] = &run.elements;
    let [window_rows, window_columns] = run.window.clone();
    let channels = channels_of_run(pass.planner, &run.elements);
    let indices = element_indices([output_rows, output_columns], pass.planner.output_size()[1]);
    let mut tile = Tile::<S, L>::default();
    let mut gradient = Tile::<S, L>::default();
    let mut scratch = GradientScratch::default();
    for start in (0..pass.channels).step_by(L) {
        let count = L.min(pass.channels - start);
        let input = LaneChannels::of_outputs(channels, start, count);
        let output = LaneChannels::adjacent(start, count);
        tile.clear(window_rows.len(), window_columns.clone());
        tile.load(simd, pass.features, run.image, &input, window_rows.clone());
        gradient.clear(1, indices.clone());
        gradient.load(simd, pass.gradient, run.row, &output, 0..1);
        // Lanes beyond the last channel hold a copy of it.
        gradient.clear_lanes(count);
        let gradient = gradient.row(0, indices.clone());
        let columns = window_columns.clone();
        pass.kernel
            .add(run.plan, columns, gradient, &tile, &mut scratch, run.end_gradients);
    }
}
