//! The kernels of the gradient of features: what an element's gradient adds to the pixels that it read.

use std::ops::Range;

mod average;
mod key;
mod max_of_pixels;
mod max_of_samples;

pub use average::ScatterAverage;
pub use max_of_pixels::ScatterMaxOfPixels;
pub use max_of_samples::ScatterMaxOfSamples;

use pulp::{Simd, WithSimd};

use super::sum_rows::SumRows;
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::memory::AlignedPixels;
use crate::backend::flex::pixels::{LARGEST_TILE, LaneChannels, Planes, Rows, Tile};
use crate::geometry::plan::AxisPlan;
use key::key;

/// How the gradient of output elements goes to pixels.
pub trait Scatter<S: Sum>: Sync {
    /// The plan of an axis of a region, for all channels.
    type Plan: AxisPlan<S>;

    /// Channels are computed one by one if a copy of the window would have more pixels.
    const LARGEST_TILE: usize = LARGEST_TILE;

    /// What it reads of the features.
    fn reads(&self) -> Reads;

    /// Adds the gradient of `elements`, which are rows and columns of the output, in `L` channels, to the pixels in
    /// `columns` of their window. `features` has these pixels if they are read, and the rows are open in `sums`.
    // Eight arguments: a struct of them would be built and taken apart once, here and in three kernels.
    #[allow(clippy::too_many_arguments)]
    fn add<const L: usize>(
        &self,
        simd: impl Simd,
        plan: [&Self::Plan; 2],
        elements: [Range<usize>; 2],
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut GradientScratch<S, L>,
        sums: &mut SumRows<S, L>,
    );
}

/// What a kernel reads of the features.
#[derive(Clone, Copy, PartialEq)]
pub enum Reads {
    Nothing,
    Pixels,
    /// The keys of pixels, in [`GradientScratch`].
    Keys,
}

/// Memory that a task of a gradient reuses from region to region.
#[derive(Default)]
pub struct GradientScratch<S: Sum, const L: usize> {
    /// A row of the window.
    row: AlignedPixels<S, L>,
    /// Rows of the window that the gradient of boxes spreads: by weights, and by the slopes for both ends.
    pub spread: [AlignedPixels<S, L>; 3],
    /// The maxima of a row of the output.
    maxima: Vec<[S; L]>,
    /// The indices along y and x of the sample of each maximum; `NONE` along y if it was no sample.
    winners: Vec<[[i32; L]; 2]>,
    /// Keys of the pixels of the task's columns, and a row of these pixels.
    keys: Tile<f64, L>,
    pixels: Tile<S, L>,
    /// The largest keys along y, and the largest of each element.
    along_y: AlignedPixels<f64, L>,
    largest: AlignedPixels<f64, L>,
    /// The position of the largest pixel of each element, counted row by row in the task's columns, or `NONE`.
    positions: Vec<[i32; L]>,
}

impl<S: Sum, const L: usize> GradientScratch<S, L> {
    /// Loads the keys of rows as [`Tile::load`] loads pixels. `sums` holds as many rows and columns.
    #[inline(always)]
    pub fn load_keys(
        &mut self,
        simd: impl Simd,
        features: &Planes<'_, S>,
        image: usize,
        channels: &LaneChannels,
        rows: Range<usize>,
        sums: &SumRows<S, L>,
    ) {
        if self.keys.is_empty() {
            self.keys.clear(sums.row_count(), sums.columns());
        }
        let rows = self.keys.next_rows(rows);
        self.pixels.clear(1, sums.columns());
        simd.vectorize(LoadKeys {
            scratch: self,
            features,
            image,
            channels,
            rows,
            columns: sums.columns(),
        });
    }

    /// The indices along y and x of the sample that is the maximum of an element of a row in a channel; `None` if it
    /// was no sample.
    #[inline(always)]
    pub fn winner(&self, element: usize, lane: usize) -> Option<[usize; 2]> {
        let [y, x] = &self.winners[element];
        (y[lane] != NONE).then_some([y[lane] as usize, x[lane] as usize])
    }
}

/// Rows whose keys are loaded. It is compiled once, since `pulp` gets it separately.
struct LoadKeys<'a, 'b, S: Sum, const L: usize> {
    scratch: &'a mut GradientScratch<S, L>,
    features: &'a Planes<'b, S>,
    image: usize,
    channels: &'a LaneChannels,
    rows: Range<usize>,
    columns: Range<usize>,
}

impl<S: Sum, const L: usize> WithSimd for LoadKeys<'_, '_, S, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let GradientScratch { keys, pixels, .. } = self.scratch;
        for row in self.rows {
            pixels.load_row(simd, self.features, self.image, self.channels, row);
            let pixels = pixels.row(row, self.columns.clone());
            let positions = row * self.columns.len()..;
            for ((position, keys), pixel) in positions.zip(keys.row_mut(row)).zip(pixels) {
                // A copy, so that the compiler knows that nothing overlaps.
                let mut lane_keys = [0.0; L];
                for (lane_key, pixel) in lane_keys.iter_mut().zip(*pixel) {
                    *lane_key = key(pixel.into(), position);
                }
                *keys = lane_keys;
            }
        }
    }
}

/// No sample or pixel. Indices are as wide as an f32, so that LLVM selects them in vectors together with pixels.
const NONE: i32 = -1;

/// Takes the larger of two elements in each channel, and the index of its source.
#[inline(always)]
fn keep_first_larger<S: Sum, const L: usize>(maximum: &mut [S; L], pixel: &[S; L], winner: &mut [i32; L], index: i32) {
    for lane in 0..L {
        let larger = pixel[lane] > maximum[lane];
        winner[lane] = if larger { index } else { winner[lane] };
        maximum[lane] = if larger { pixel[lane] } else { maximum[lane] };
    }
}
