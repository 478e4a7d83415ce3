//! The kernels of the gradient of features: what an element's gradient adds to the pixels that it read.

use std::ops::Range;

mod average;
mod key;
mod max_of_pixels;
mod max_of_samples;
mod points;
mod volume;

pub use average::ScatterAverage;
pub use max_of_pixels::ScatterMaxOfPixels;
pub use max_of_samples::ScatterMaxOfSamples;
pub use points::ScatterPoints;
pub use volume::ScatterVolume;

use pulp::{Simd, WithSimd};

use super::sum_rows::SumRows;
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::kernels::SampleWinners;
use crate::backend::flex::memory::AlignedPixels;
use crate::backend::flex::pixels::{LARGEST_TILE, LaneChannels, Planes, Rows, Tile};
use crate::backend::flex::planned::RegionPlan;
use crate::geometry::plan::ChannelGroup;
use key::key;

/// How the gradient of output elements goes to pixels.
pub trait Scatter<S: Sum>: Sync {
    /// The plan of a region, for all channels.
    type Plan: RegionPlan<S>;

    /// The most numbers in the plans of a batch: 8 MiB of f32.
    const PLAN_NUMBERS: usize = 1 << 21;

    /// Channels are computed one by one if a copy of the window would have more pixels.
    const LARGEST_TILE: usize = LARGEST_TILE;

    /// What it reads of the features.
    fn reads(&self) -> Reads {
        Reads::Nothing
    }

    /// The elements of the output whose gradient is added for `band`.
    fn elements(&self, _plan: &Self::Plan, band: &ChannelGroup) -> Range<usize> {
        band.indices()
    }

    /// Adds the gradient of [`elements`](Self::elements) in `L` channels to the pixels in `columns` of their window.
    /// `features` has these pixels if they are read, and the rows are open in `sums`.
    // Eight arguments: a struct of them would be built and taken apart once, here and in four kernels.
    #[allow(clippy::too_many_arguments)]
    fn add<const L: usize>(
        &self,
        simd: impl Simd,
        plan: &Self::Plan,
        band: &ChannelGroup,
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
    /// The gradient of elements of a slice of a volume.
    slice: AlignedPixels<S, L>,
    /// A row of the window.
    row: AlignedPixels<S, L>,
    /// The largest samples of a row of the output.
    winners: SampleWinners<S, L>,
    /// Keys of the pixels of the task's columns, and a row of these pixels.
    keys: Tile<f64, L>,
    pixels: Tile<S, L>,
    /// The largest keys along y, and the largest of each element.
    along_y: AlignedPixels<f64, L>,
    largest: AlignedPixels<f64, L>,
    /// The position of the largest pixel of each element, counted row by row in the task's columns, or
    /// [`NONE`](crate::backend::flex::kernels::NONE).
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
