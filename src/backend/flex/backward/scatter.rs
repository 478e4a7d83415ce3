//! The kernels of the gradient of features: what an element's gradient adds to the pixels that it read.

use std::ops::Range;

use super::sum_rows::SumRows;
use crate::backend::flex::kernels::{add, weighted_sum};
use crate::backend::flex::numbers::Sum;
use crate::backend::flex::pixels::{AlignedPixels, Rows};
use crate::geometry::plan::{AxisPlan, PixelRanges, Planner, SampleTaps, Weights};

/// How the gradient of output elements goes to pixels.
pub trait Scatter<S: Sum>: Sync {
    /// What of a region's axis is common to its channels.
    type Plan: AxisPlan<S>;

    /// Whether it reads the features.
    const READS_FEATURES: bool;

    /// Adds the gradient of rows of the output, in `L` channels, to the pixels of `columns`, those of the region's
    /// window. `features` has its pixels where they are read, and `sums` its rows, open.
    #[allow(clippy::too_many_arguments)]
    fn add<const L: usize>(
        &self,
        plan: [&Self::Plan; 2],
        output_rows: Range<usize>,
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut Scratch<S, L>,
        sums: &mut SumRows<S, L>,
    );
}

/// Memory that a task uses again from region to region.
pub struct Scratch<S, const L: usize> {
    /// A row of the window.
    row: AlignedPixels<S, L>,
    /// The largest numbers of a row of the output.
    maxima: Vec<[S; L]>,
    /// What each of them was read from, along y and along x; [`NONE`] where it was no pixel.
    winners: Vec<[[u32; L]; 2]>,
    /// For each column of the window, the row that its maximum was read from.
    rows: Vec<[u32; L]>,
}

impl<S: Sum, const L: usize> Scratch<S, L> {
    pub fn new() -> Self {
        Self {
            row: AlignedPixels::new(),
            maxima: Vec::new(),
            winners: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// What the elements of a row were read from, along y and along x; [`NONE`] where it was no pixel.
    pub fn winners(&self) -> &[[[u32; L]; 2]] {
        &self.winners
    }
}

/// The number of no sample and of no pixel.
pub const NONE: u32 = u32::MAX;

/// An average: every pixel gets its weight's share.
pub struct ScatterAverage;

impl<S: Sum> Scatter<S> for ScatterAverage {
    type Plan = Weights<S>;

    const READS_FEATURES: bool = false;

    #[inline(always)]
    fn add<const L: usize>(
        &self,
        [y, x]: [&Weights<S>; 2],
        output_rows: Range<usize>,
        columns: Range<usize>,
        gradient: &[[S; L]],
        _features: &impl Rows<S, L>,
        scratch: &mut Scratch<S, L>,
        sums: &mut SumRows<S, L>,
    ) {
        scratch.row.resize(columns.len());
        let along_x = scratch.row.get_mut();
        let elements_y = y.elements().skip(output_rows.start);
        for (gradient, (rows, weights_y, _)) in gradient.chunks_exact(x.pixels.len()).zip(elements_y) {
            if rows.is_empty() {
                continue;
            }
            along_x.fill([S::default(); L]);
            for (gradient, (pixels, weights_x, _)) in gradient.iter().zip(x.elements()) {
                if !pixels.is_empty() {
                    let pixels = &mut along_x[pixels.start - columns.start..pixels.end - columns.start];
                    for (sum, &weight) in pixels.iter_mut().zip(weights_x) {
                        add(sum, weight, gradient);
                    }
                }
            }
            for (row, &weight) in rows.zip(weights_y) {
                for (sum, pixel) in sums.row(row, columns.clone()).iter_mut().zip(&*along_x) {
                    add(sum, weight, pixel);
                }
            }
        }
    }
}

/// A maximum over samples: the pixels of the sample that won get their weights' shares.
pub struct ScatterMaxOfSamples<S> {
    start: S,
    outside: S,
}

impl<S: Sum> ScatterMaxOfSamples<S> {
    pub fn new(planner: &Planner<S>) -> Self {
        Self {
            start: planner.maximum_starts_from().map_or(S::LEAST, S::from_f64),
            outside: S::from_f64(planner.value_without_pixels()),
        }
    }

    /// The samples that win in a row of the output.
    #[inline(always)]
    pub fn winners<const L: usize>(
        &self,
        [y, x]: [&SampleTaps<S>; 2],
        output_row: usize,
        columns: &Range<usize>,
        features: &impl Rows<S, L>,
        scratch: &mut Scratch<S, L>,
    ) {
        let width = x.samples.len();
        scratch.row.resize(columns.len());
        scratch.maxima.clear();
        scratch.maxima.resize(width, [self.start; L]);
        scratch.winners.clear();
        scratch.winners.resize(width, [[NONE; L]; 2]);
        for sample_y in y.samples[output_row].clone() {
            let taps = y.taps[sample_y];
            let pair = [taps.low, taps.high];
            weighted_sum(scratch.row.get_mut(), &[taps.low_weight, taps.high_weight], |tap| {
                features.row(pair[tap], columns.clone())
            });
            let along_y = scratch.row.get();
            let of_elements = scratch.maxima.iter_mut().zip(&mut scratch.winners).zip(&x.samples);
            for ((maximum, winner), samples_x) in of_elements {
                for sample_x in samples_x.clone() {
                    let taps = x.taps[sample_x];
                    let mut sample = [S::default(); L];
                    add(&mut sample, taps.low_weight, &along_y[taps.low - columns.start]);
                    add(&mut sample, taps.high_weight, &along_y[taps.high - columns.start]);
                    keep_winner(maximum, &sample, winner, [sample_y as u32, sample_x as u32]);
                }
            }
        }
        let of_elements = scratch.maxima.iter().zip(&mut scratch.winners).zip(&x.complete);
        for ((maximum, winner), &complete_x) in of_elements {
            if !(y.complete[output_row] && complete_x) {
                for (lane, &maximum) in maximum.iter().enumerate() {
                    if self.outside > maximum {
                        winner[0][lane] = NONE;
                    }
                }
            }
        }
    }
}

impl<S: Sum> Scatter<S> for ScatterMaxOfSamples<S> {
    type Plan = SampleTaps<S>;

    const READS_FEATURES: bool = true;

    #[inline(always)]
    fn add<const L: usize>(
        &self,
        [y, x]: [&SampleTaps<S>; 2],
        output_rows: Range<usize>,
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut Scratch<S, L>,
        sums: &mut SumRows<S, L>,
    ) {
        for (row, gradient) in output_rows.zip(gradient.chunks_exact(x.samples.len())) {
            self.winners([y, x], row, &columns, features, scratch);
            for (gradient, winner) in gradient.iter().zip(&scratch.winners) {
                for (lane, gradient) in gradient.iter().enumerate() {
                    if winner[0][lane] == NONE {
                        continue;
                    }
                    let (y, x) = (y.taps[winner[0][lane] as usize], x.taps[winner[1][lane] as usize]);
                    for (row, weight_y) in [(y.low, y.low_weight), (y.high, y.high_weight)] {
                        for (column, weight_x) in [(x.low, x.low_weight), (x.high, x.high_weight)] {
                            sums.add([row, column], lane, weight_y * weight_x * *gradient);
                        }
                    }
                }
            }
        }
    }
}

/// A maximum over bins of whole pixels: the first of the largest pixels, row by row, gets all.
pub struct ScatterMaxOfPixels;

impl<S: Sum> Scatter<S> for ScatterMaxOfPixels {
    type Plan = PixelRanges;

    const READS_FEATURES: bool = true;

    #[inline(always)]
    fn add<const L: usize>(
        &self,
        [y, x]: [&PixelRanges; 2],
        output_rows: Range<usize>,
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut Scratch<S, L>,
        sums: &mut SumRows<S, L>,
    ) {
        for (bin_y, gradient) in y[output_rows].iter().zip(gradient.chunks_exact(x.len())) {
            if bin_y.is_empty() {
                continue;
            }
            // Along y first: the largest pixel of each column, and its row.
            scratch.maxima.clear();
            scratch.maxima.resize(columns.len(), [S::LEAST; L]);
            scratch.rows.clear();
            scratch.rows.resize(columns.len(), [NONE; L]);
            for row in bin_y.clone() {
                let pixels = features.row(row, columns.clone());
                for ((maximum, winner), pixel) in scratch.maxima.iter_mut().zip(&mut scratch.rows).zip(pixels) {
                    for lane in 0..L {
                        let larger = pixel[lane] > maximum[lane];
                        maximum[lane] = if larger { pixel[lane] } else { maximum[lane] };
                        winner[lane] = if larger { row as u32 } else { winner[lane] };
                    }
                }
            }
            for (gradient, bin_x) in gradient.iter().zip(x) {
                let (mut maximum, mut winner) = ([S::LEAST; L], [[NONE; L]; 2]);
                for column in bin_x.clone() {
                    let place = column - columns.start;
                    let (numbers, rows) = (&scratch.maxima[place], &scratch.rows[place]);
                    for lane in 0..L {
                        // Of equal ones the upper, and of those in one row the left one.
                        let upper = numbers[lane] == maximum[lane] && rows[lane] < winner[0][lane];
                        let wins = numbers[lane] > maximum[lane] || upper;
                        maximum[lane] = if wins { numbers[lane] } else { maximum[lane] };
                        winner[0][lane] = if wins { rows[lane] } else { winner[0][lane] };
                        winner[1][lane] = if wins { column as u32 } else { winner[1][lane] };
                    }
                }
                for (lane, &gradient) in gradient.iter().enumerate() {
                    if winner[0][lane] != NONE {
                        sums.add([winner[0][lane] as usize, winner[1][lane] as usize], lane, gradient);
                    }
                }
            }
        }
    }
}

/// Takes the larger of two numbers in each channel, and what it was read from.
#[inline(always)]
fn keep_winner<S: Sum, const L: usize>(
    maximum: &mut [S; L],
    sample: &[S; L],
    winner: &mut [[u32; L]; 2],
    [y, x]: [u32; 2],
) {
    for lane in 0..L {
        let larger = sample[lane] > maximum[lane];
        maximum[lane] = if larger { sample[lane] } else { maximum[lane] };
        winner[0][lane] = if larger { y } else { winner[0][lane] };
        winner[1][lane] = if larger { x } else { winner[1][lane] };
    }
}
