//! The samples that are the maxima of elements, for gradients.

use std::ops::Range;

use super::row_sums::sum_of_two;
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::memory::AlignedPixels;
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::{SampleTaps, Values};

/// No sample or pixel. Indices are as wide as an f32, so that LLVM selects them in vectors together with pixels.
pub const NONE: i32 = -1;

/// The samples that are the maxima of a row of the output, in `L` channels.
#[derive(Default)]
pub struct SampleWinners<S: Sum, const L: usize> {
    /// A row of the window.
    row: AlignedPixels<S, L>,
    maxima: Vec<[S; L]>,
    /// The indices along y and x of the sample of each maximum; [`NONE`] along y if it was no sample.
    winners: Vec<[[i32; L]; 2]>,
}

impl<S: Sum, const L: usize> SampleWinners<S, L> {
    /// Finds the largest samples of some elements of a row of the output. `columns` are the columns of the window.
    #[inline(always)]
    pub fn find(
        &mut self,
        Values { start, outside }: Values<S>,
        [y, x]: &[SampleTaps<S>; 2],
        output_row: usize,
        output_columns: &Range<usize>,
        columns: &Range<usize>,
        features: &impl Rows<S, L>,
    ) {
        let width = output_columns.len();
        let (samples_x, complete_x) = (&x.samples[output_columns.clone()], &x.complete[output_columns.clone()]);
        self.row.resize(columns.len());
        self.maxima.clear();
        self.maxima.resize(width, [start; L]);
        self.winners.clear();
        self.winners.resize(width, [[NONE; L]; 2]);
        for (index_y, sample_y) in y.samples[output_row].clone().enumerate() {
            let index_y = index_y as i32;
            let taps = y.taps[sample_y];
            let pair = [taps.low, taps.high].map(|row| features.row(row, columns.clone()));
            sum_of_two(self.row.get_mut(), [taps.low_weight, taps.high_weight], pair);
            let along_y = self.row.get();
            let elements = self.maxima.iter_mut().zip(&mut self.winners).zip(samples_x);
            for ((maximum, winner), samples) in elements {
                for (index_x, taps) in (0..).zip(&x.taps[samples.clone()]) {
                    let mut sample = [S::default(); L];
                    S::add_weighted(&mut sample, taps.low_weight, &along_y[taps.low - columns.start]);
                    S::add_weighted(&mut sample, taps.high_weight, &along_y[taps.high - columns.start]);
                    keep_winner(maximum, &sample, winner, [index_y, index_x]);
                }
            }
        }
        let elements = self.maxima.iter().zip(&mut self.winners).zip(complete_x);
        for ((maximum, winner), &complete_x) in elements {
            if !(y.complete[output_row] && complete_x) {
                for (lane, &maximum) in maximum.iter().enumerate() {
                    if outside > maximum {
                        winner[0][lane] = NONE;
                    }
                }
            }
        }
    }

    /// The indices along y and x of the sample that is the maximum of an element in a channel; `None` if it was no
    /// sample.
    #[inline(always)]
    pub fn winner(&self, element: usize, lane: usize) -> Option<[usize; 2]> {
        let [y, x] = &self.winners[element];
        (y[lane] != NONE).then_some([y[lane] as usize, x[lane] as usize])
    }
}

/// Takes the larger of two samples in each channel, and its indices along y and along x.
#[inline(always)]
fn keep_winner<S: Sum, const L: usize>(
    maximum: &mut [S; L],
    sample: &[S; L],
    [winner_y, winner_x]: &mut [[i32; L]; 2],
    [y, x]: [i32; 2],
) {
    for lane in 0..L {
        let larger = sample[lane] > maximum[lane];
        winner_y[lane] = if larger { y } else { winner_y[lane] };
        winner_x[lane] = if larger { x } else { winner_x[lane] };
        maximum[lane] = if larger { sample[lane] } else { maximum[lane] };
    }
}
