//! The kernels of the gradient of features: what an element's gradient adds to the pixels that it read.

use std::ops::Range;

mod average;
mod max_of_pixels;
mod max_of_samples;

pub use average::ScatterAverage;
pub use max_of_pixels::ScatterMaxOfPixels;
pub use max_of_samples::ScatterMaxOfSamples;

use super::sum_rows::SumRows;
use crate::backend::flex::numbers::Sum;
use crate::backend::flex::pixels::{AlignedPixels, Rows};
use crate::geometry::plan::AxisPlan;

/// How the gradient of output elements goes to pixels.
pub trait Scatter<S: Sum>: Sync {
    /// What of a region's axis is common to its channels.
    type Plan: AxisPlan<S>;

    /// Whether it reads the features.
    const READS_FEATURES: bool;

    /// Adds the gradient of `elements`, which are rows and columns of the output, in `L` channels, to the pixels of
    /// `columns`, those of their window. `features` has its pixels where they are read, and `sums` its rows, open.
    #[allow(clippy::too_many_arguments)]
    fn add<const L: usize>(
        &self,
        plan: [&Self::Plan; 2],
        elements: [Range<usize>; 2],
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut Scratch<S, L>,
        sums: &mut SumRows<S, L>,
    );
}

/// Memory that a task uses again from region to region.
pub struct Scratch<S: Sum, const L: usize> {
    /// A row of the window.
    row: AlignedPixels<S, L>,
    /// Rows of the window that the gradient of boxes spreads: by weights, and by the slopes for both ends.
    pub spread: [AlignedPixels<S, L>; 3],
    /// The largest numbers of a row of the output.
    maxima: Vec<[S; L]>,
    /// The numbers of the samples that each of them was read from, along y and along x; `NONE` along y where it was no
    /// sample.
    winners: Vec<[[i32; L]; 2]>,
    /// For each column of the window, the offset of the row that its maximum was read from, or `NONE`.
    rows: Vec<[i32; L]>,
    /// The offsets of the pixels that the elements of a row were read from, or `NONE`.
    offsets: Vec<[i32; L]>,
}

impl<S: Sum, const L: usize> Scratch<S, L> {
    pub fn new() -> Self {
        Self {
            row: AlignedPixels::new(),
            spread: std::array::from_fn(|_| AlignedPixels::new()),
            maxima: Vec::new(),
            winners: Vec::new(),
            rows: Vec::new(),
            offsets: Vec::new(),
        }
    }

    /// The numbers of the samples, within their elements, that the elements of a row were read from, along y and
    /// along x; none where it was no sample.
    #[inline(always)]
    pub fn winners(&self) -> impl Iterator<Item = [Option<[usize; 2]>; L]> {
        let place = |winner: &[[i32; L]; 2], lane: usize| {
            let [y, x] = winner.map(|numbers| numbers[lane]);
            (y != NONE).then_some([y as usize, x as usize])
        };
        self.winners
            .iter()
            .map(move |winner| std::array::from_fn(|lane| place(winner, lane)))
    }
}

/// The number of no sample, and the offset of no pixel. Numbers and offsets are as wide as an f32, so that the compiler
/// selects them in vectors together with the pixels.
const NONE: i32 = -1;

/// Takes the larger of two numbers in each channel, and the number of where it was read from.
#[inline(always)]
fn keep_first_larger<S: Sum, const L: usize>(maximum: &mut [S; L], pixel: &[S; L], winner: &mut [i32; L], number: i32) {
    for lane in 0..L {
        let larger = pixel[lane] > maximum[lane];
        winner[lane] = if larger { number } else { winner[lane] };
        maximum[lane] = if larger { pixel[lane] } else { maximum[lane] };
    }
}
