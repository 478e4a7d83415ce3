//! The gradient of boxes: a task owns some regions, and sums four numbers for each.

use std::ops::Range;

use burn::tensor::{Bytes, Element, Shape};
use burn_flex::{FlexTensor, Layout};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::scatter::Scratch;
use crate::backend::flex::engine::{FEWEST_LANES, in_parallel};
use crate::backend::flex::numbers::{Number, Sum};
use crate::backend::flex::pixels::{Features, LANES, LARGEST_TILE, LaneChannels, Rows, Tile, tile_capacity};
use crate::geometry::options::BoxFormat;
use crate::geometry::plan::{AxisPlan, Coordinate, Planner, Region, pixel_count};

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
pub struct Call<'a, E: Number> {
    /// The gradient of the output, `[K, channels, P, Q]`, contiguous.
    pub gradient: &'a FlexTensor,
    /// `[N, C, H, W]`, whose rows are contiguous.
    pub features: &'a FlexTensor,
    pub regions: &'a [Region],
    pub planner: &'a Planner<E::Sum>,
    pub box_format: BoxFormat,
}

/// The gradient `[K, 4]` of the boxes, in the dtype of sums.
pub fn run<E: Number, P: PullEnds<E::Sum>>(call: Call<'_, E>, kernel: &P) -> FlexTensor {
    let [count, channels, rows, columns] = call.gradient.layout().shape().dims();
    let parallel = in_parallel(call.gradient.layout().num_elements());
    let flat = call.gradient.reshape(Shape::new([count, channels, 1, rows * columns]));
    let work = Work {
        kernel,
        features: &Features::<E>::new(call.features),
        gradient: &Features::<E>::new(&flat),
        planner: call.planner,
        channels,
    };
    let of_region = |(row, region): (usize, &Region)| {
        let of_ends = match call.planner.pools(region) {
            true => Arch::new().dispatch(Vectorized {
                work: &work,
                row,
                region,
            }),
            false => OfEnds::default(),
        };
        let mut of_columns = [E::Sum::default(); 4];
        for (columns, of_ends) in call.box_format.columns().iter().zip(of_ends) {
            for (&column, of_end) in columns.iter().zip(of_ends) {
                of_columns[column] = E::Sum::from_f64(of_end);
            }
        }
        of_columns
    };
    let gradients: Vec<[E::Sum; 4]> = if parallel {
        call.regions.par_iter().enumerate().map(of_region).collect()
    } else {
        call.regions.iter().enumerate().map(of_region).collect()
    };
    FlexTensor::new(
        Bytes::from_elems(gradients.into_flattened()),
        Layout::contiguous(Shape::new([count, 4])),
        E::Sum::dtype(),
    )
}

/// What all regions share.
struct Work<'a, E: Number, P> {
    kernel: &'a P,
    features: &'a Features<'a, E>,
    /// `[K, channels, 1, P * Q]`.
    gradient: &'a Features<'a, E>,
    planner: &'a Planner<E::Sum>,
    /// The channels of the output.
    channels: usize,
}

/// What `pulp` is handed. All that it calls is inlined: only then is it compiled for these instructions.
struct Vectorized<'a, E: Number, P> {
    work: &'a Work<'a, E, P>,
    row: usize,
    region: &'a Region,
}

impl<E: Number, P: PullEnds<E::Sum>> WithSimd for Vectorized<'_, E, P> {
    type Output = OfEnds;

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) -> OfEnds {
        let Self { work, row, region } = self;
        let mut of_ends = OfEnds::default();
        let [along_y, along_x] = [0, 1].map(|axis| work.planner.runs(axis));
        for rows in along_y {
            let y: P::Plan = work.planner.axis(region, 0, rows.clone());
            for columns in along_x.clone() {
                let x: P::Plan = work.planner.axis(region, 1, columns.clone());
                let run = Run {
                    row,
                    image: region.image,
                    window: [y.window(), x.window()],
                    elements: [rows.clone(), columns],
                };
                if pixel_count(&run.window) == 0 {
                    continue;
                }
                if work.channels < FEWEST_LANES || tile_capacity(&run.window) > LARGEST_TILE {
                    add_run::<_, _, _, 1>(simd, work, [&y, &x], &run, &mut of_ends);
                } else {
                    add_run::<_, _, _, LANES>(simd, work, [&y, &x], &run, &mut of_ends);
                }
            }
        }
        of_ends
    }
}

/// A run of a region's elements that read the same channels.
struct Run {
    /// The region's row in the output.
    row: usize,
    image: usize,
    window: [Range<usize>; 2],
    /// Rows and columns of the output.
    elements: [Range<usize>; 2],
}

#[inline(always)]
fn add_run<V: Simd, E: Number, P: PullEnds<E::Sum>, const L: usize>(
    simd: V,
    work: &Work<'_, E, P>,
    plan: [&P::Plan; 2],
    run: &Run,
    of_ends: &mut OfEnds,
) {
    let (map, [height, width]) = (work.planner.channel_map(), work.planner.output_size());
    let [output_rows, output_columns] = run.elements.clone();
    let [window_rows, window_columns] = run.window.clone();
    let step = map.input_channels(height * width);
    let first = map.first_channel([output_rows.start, output_columns.start], width);
    // A run is whole rows, or one element.
    let elements = output_rows.start * width + output_columns.start..(output_rows.end - 1) * width + output_columns.end;
    let mut tile = Tile::<E::Sum, L>::new();
    let mut gradient = Tile::<E::Sum, L>::new();
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
            .add(plan, window_columns.clone(), gradient, &tile, &mut scratch, of_ends);
    }
}
