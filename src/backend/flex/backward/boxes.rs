//! The gradient of boxes: a task owns some regions, and sums four numbers for each.

use std::ops::Range;

use burn::tensor::{Bytes, Shape};
use burn_flex::{FlexTensor, Layout};
use pulp::{Scalar, Simd, WithSimd};

use super::scatter::Scratch;
use crate::backend::flex::drive::{filter_map, in_parallel};
use crate::backend::flex::engine::FEWEST_LANES;
use crate::backend::flex::numbers::{Sum, dispatch_gradient, has_lanes};
use crate::backend::flex::pixels::{Features, LANES, LARGEST_TILE, LaneChannels, Rows, Tile, tile_capacity};
use crate::geometry::options::BoxFormat;
use crate::geometry::plan::{AxisPlan, Planner, Region, pixel_count};

/// What a region's gradient moves its ends by: those of y and those of x.
pub type OfEnds = [[f64; 2]; 2];

/// How the gradient of output elements goes to the ends of their region.
pub trait PullEnds<S: Sum>: Sync {
    /// What of a region's axis is common to its channels.
    type Plan: AxisPlan<S>;

    /// Adds what all elements of a region in `L` channels give. `columns` are those of its window, and `features` has
    /// its pixels.
    fn add<const L: usize>(
        &self,
        plan: [&Self::Plan; 2],
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut Scratch<S, L>,
        of_ends: &mut OfEnds,
    );
}

/// What is computed.
pub struct Call<'a, S: Sum> {
    /// The gradient of the output, `[K, channels, P, Q]`, contiguous.
    pub gradient: &'a FlexTensor,
    /// `[N, C, H, W]`, whose rows are contiguous.
    pub features: &'a FlexTensor,
    pub regions: &'a [Region],
    pub planner: &'a Planner<S>,
    pub box_format: BoxFormat,
}

/// The gradient `[K, 4]` of the boxes, in the dtype of sums.
pub fn run<S: Sum, K: PullEnds<S>>(call: Call<'_, S>, kernel: &K) -> FlexTensor {
    let [count, channels, rows, columns] = call.gradient.layout().shape().dims();
    let parallel = in_parallel(call.gradient.layout().num_elements());
    let flat = call.gradient.reshape(Shape::new([count, channels, 1, rows * columns]));
    let work = Work {
        kernel,
        features: &Features::new(call.features),
        gradient: &Features::new(&flat),
        planner: call.planner,
        channels,
    };
    let gradients = filter_map(call.regions, 1, parallel, |row, region| {
        let of_ends = work.of_region(row, region);
        let mut of_columns = [S::default(); 4];
        for (columns, of_ends) in call.box_format.columns().iter().zip(of_ends) {
            for (&column, of_end) in columns.iter().zip(of_ends) {
                of_columns[column] = S::from_f64(of_end);
            }
        }
        Some(of_columns)
    });
    FlexTensor::new(
        Bytes::from_elems(gradients.into_flattened()),
        Layout::contiguous(Shape::new([count, 4])),
        S::dtype(),
    )
}

/// What all regions share.
struct Work<'a, S: Sum, K> {
    kernel: &'a K,
    features: &'a Features<'a, S>,
    /// `[K, channels, 1, P * Q]`.
    gradient: &'a Features<'a, S>,
    planner: &'a Planner<S>,
    /// The channels of the output.
    channels: usize,
}

impl<S: Sum, K: PullEnds<S>> Work<'_, S, K> {
    /// What moves the ends of the region in a row of the output.
    fn of_region(&self, row: usize, region: &Region) -> OfEnds {
        let mut of_ends = OfEnds::default();
        if !self.planner.pools(region) {
            return of_ends;
        }
        let [along_y, along_x] = [0, 1].map(|axis| self.planner.runs(axis));
        for rows in along_y {
            let y = K::Plan::make(self.planner, region, 0, rows.clone());
            for columns in along_x.clone() {
                let x = K::Plan::make(self.planner, region, 1, columns.clone());
                let run = Run {
                    plan: [&y, &x],
                    row,
                    image: region.image,
                    window: [y.window(), x.window()],
                    elements: [rows.clone(), columns],
                };
                if pixel_count(&run.window) == 0 {
                    continue;
                }
                if self.channels < FEWEST_LANES || tile_capacity(&run.window) > LARGEST_TILE {
                    add_one_by_one(self, &run, &mut of_ends);
                } else {
                    dispatch_gradient::<S, _>(Vectorized {
                        work: self,
                        run: &run,
                        of_ends: &mut of_ends,
                    });
                }
            }
        }
        of_ends
    }
}

/// What `pulp` is handed. All that it calls is inlined: only then is it compiled for these instructions.
struct Vectorized<'a, S: Sum, K: PullEnds<S>> {
    work: &'a Work<'a, S, K>,
    run: &'a Run<'a, K::Plan>,
    of_ends: &'a mut OfEnds,
}

impl<S: Sum, K: PullEnds<S>> WithSimd for Vectorized<'_, S, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        if const { has_lanes::<V>() } {
            add_run::<_, _, _, LANES>(simd, self.work, self.run, self.of_ends);
        } else {
            add_one_by_one(self.work, self.run, self.of_ends);
        }
    }
}

/// One channel at a time. So few numbers gain little from vectors: it is compiled without.
#[inline(never)]
fn add_one_by_one<S: Sum, K: PullEnds<S>>(work: &Work<'_, S, K>, run: &Run<'_, K::Plan>, of_ends: &mut OfEnds) {
    add_run::<_, _, _, 1>(Scalar::new(), work, run, of_ends);
}

/// A run of a region's elements that read the same channels.
struct Run<'a, P> {
    plan: [&'a P; 2],
    /// The region's row in the output.
    row: usize,
    image: usize,
    window: [Range<usize>; 2],
    /// Rows and columns of the output.
    elements: [Range<usize>; 2],
}

#[inline(always)]
fn add_run<V: Simd, S: Sum, K: PullEnds<S>, const L: usize>(
    simd: V,
    work: &Work<'_, S, K>,
    run: &Run<'_, K::Plan>,
    of_ends: &mut OfEnds,
) {
    let (map, [height, width]) = (work.planner.channel_map(), work.planner.output_size());
    let [output_rows, output_columns] = run.elements.clone();
    let [window_rows, window_columns] = run.window.clone();
    let step = map.input_channels(height * width);
    let first = map.first_channel([output_rows.start, output_columns.start], width);
    // A run is whole rows, or one element.
    let elements = output_rows.start * width + output_columns.start..(output_rows.end - 1) * width + output_columns.end;
    let mut tile = Tile::<S, L>::new();
    let mut gradient = Tile::<S, L>::new();
    let mut scratch = Scratch::new();
    for start in (0..work.channels).step_by(L) {
        let count = L.min(work.channels - start);
        let input = LaneChannels {
            first: first + start * step,
            step,
            count,
        };
        let output = LaneChannels {
            first: start,
            step: 1,
            count,
        };
        tile.clear(window_rows.len(), window_columns.clone());
        tile.load(simd, work.features, run.image, &input, window_rows.clone());
        gradient.clear(1, elements.clone());
        gradient.load(simd, work.gradient, run.row, &output, 0..1);
        // Lanes beyond the last channel hold a copy of it.
        gradient.clear_lanes(count);
        let gradient = gradient.row(0, elements.clone());
        work.kernel
            .add(run.plan, window_columns.clone(), gradient, &tile, &mut scratch, of_ends);
    }
}
