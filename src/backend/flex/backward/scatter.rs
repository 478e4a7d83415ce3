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
    /// Rows of the window that the gradient of boxes spreads: by weights, and by the slopes for both ends.
    pub spread: [AlignedPixels<S, L>; 3],
    /// The largest numbers of a row of the output.
    maxima: Vec<[S; L]>,
    /// What each of them was read from, along y and along x; negative along y where it was no pixel.
    winners: Vec<[[S; L]; 2]>,
    /// For each column of the window, the row of its bin that its maximum was read from.
    rows: Vec<[S; L]>,
}

impl<S: Sum, const L: usize> Scratch<S, L> {
    pub fn new() -> Self {
        Self {
            row: AlignedPixels::new(),
            spread: std::array::from_fn(|_| AlignedPixels::new()),
            maxima: Vec::new(),
            winners: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The numbers of the samples, within their elements, that the elements of a row were read from, along y and
    /// along x; none where it was no sample.
    #[inline(always)]
    pub fn winners(&self) -> impl Iterator<Item = [Option<[usize; 2]>; L]> {
        let place = |winner: &[[S; L]; 2], lane: usize| {
            let [y, x] = winner.map(|numbers| numbers[lane]);
            (y >= S::default()).then(|| [S::to_index(y), S::to_index(x)])
        };
        self.winners
            .iter()
            .map(move |winner| std::array::from_fn(|lane| place(winner, lane)))
    }
}

/// Winners are numbers of the same type as maxima, which the compiler then selects in vectors as well. From here on they
/// would not be exact; no bin and no element is as long.
const MOST: usize = 1 << 23;

/// The number of no sample and of no pixel.
#[inline(always)]
fn none<S: Sum>() -> S {
    S::default() - S::ONE
}

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
        scratch.winners.resize(width, [[none(); L]; 2]);
        for (number_y, sample_y) in y.samples[output_row].clone().enumerate() {
            let number_y = S::from_f64(number_y as f64);
            let taps = y.taps[sample_y];
            let pair = [taps.low, taps.high];
            weighted_sum(scratch.row.get_mut(), &[taps.low_weight, taps.high_weight], |tap| {
                features.row(pair[tap], columns.clone())
            });
            let along_y = scratch.row.get();
            let of_elements = scratch.maxima.iter_mut().zip(&mut scratch.winners).zip(&x.samples);
            for ((maximum, winner), samples_x) in of_elements {
                let mut number_x = S::default();
                for taps in &x.taps[samples_x.clone()] {
                    let mut sample = [S::default(); L];
                    add(&mut sample, taps.low_weight, &along_y[taps.low - columns.start]);
                    add(&mut sample, taps.high_weight, &along_y[taps.high - columns.start]);
                    keep_winner(maximum, &sample, winner, [number_y, number_x]);
                    number_x += S::ONE;
                }
            }
        }
        let of_elements = scratch.maxima.iter().zip(&mut scratch.winners).zip(&x.complete);
        for ((maximum, winner), &complete_x) in of_elements {
            if !(y.complete[output_row] && complete_x) {
                for (lane, &maximum) in maximum.iter().enumerate() {
                    if self.outside > maximum {
                        winner[0][lane] = none();
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
            let (of_y, of_x) = (&y.taps[y.samples[row].clone()], &x.samples);
            for ((gradient, winners), of_x) in gradient.iter().zip(scratch.winners()).zip(of_x) {
                for (lane, (&gradient, winner)) in gradient.iter().zip(winners).enumerate() {
                    let Some([number_y, number_x]) = winner else {
                        continue;
                    };
                    let (y, x) = (of_y[number_y], x.taps[of_x.start + number_x]);
                    for (row, weight_y) in [(y.low, y.low_weight), (y.high, y.high_weight)] {
                        for (column, weight_x) in [(x.low, x.low_weight), (x.high, x.high_weight)] {
                            sums.add([row, column], lane, weight_y * weight_x * gradient);
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
            assert!(
                bin_y.len() < MOST && columns.len() < MOST,
                "the gradient of a bin needs fewer than 2^23 pixels along each axis"
            );
            scratch.maxima.clear();
            scratch.maxima.resize(columns.len(), [S::LEAST; L]);
            scratch.rows.clear();
            scratch.rows.resize(columns.len(), [none(); L]);
            let mut number = S::default();
            for row in bin_y.clone() {
                let pixels = features.row(row, columns.clone()).as_flattened();
                let (maxima, rows) = (scratch.maxima.as_flattened_mut(), scratch.rows.as_flattened_mut());
                for ((maximum, row), &pixel) in maxima.iter_mut().zip(rows).zip(pixels) {
                    let larger = pixel > *maximum;
                    *row = if larger { number } else { *row };
                    *maximum = if larger { pixel } else { *maximum };
                }
                number += S::ONE;
            }
            for (gradient, bin_x) in gradient.iter().zip(x) {
                let (mut maximum, mut winner) = ([S::LEAST; L], [[none(); L]; 2]);
                let mut number = S::default();
                let of_bin = bin_x.start - columns.start.min(bin_x.start)..bin_x.end - columns.start.min(bin_x.start);
                for (pixels, rows) in scratch.maxima[of_bin.clone()].iter().zip(&scratch.rows[of_bin]) {
                    let [of_y, of_x] = &mut winner;
                    let winners = maximum.iter_mut().zip(of_y).zip(of_x);
                    for (((maximum, of_y), of_x), (&pixel, &row)) in winners.zip(pixels.iter().zip(rows)) {
                        // Of equal ones the upper, and of those in one row the left one. `&` and `|` do not branch.
                        let wins = (pixel > *maximum) | ((pixel == *maximum) & (row < *of_y));
                        *of_y = if wins { row } else { *of_y };
                        *of_x = if wins { number } else { *of_x };
                        *maximum = if wins { pixel } else { *maximum };
                    }
                    number += S::ONE;
                }
                for (lane, &gradient) in gradient.iter().enumerate() {
                    let [of_y, of_x] = winner.map(|numbers| numbers[lane]);
                    if of_y >= S::default() {
                        sums.add(
                            [bin_y.start + S::to_index(of_y), bin_x.start + S::to_index(of_x)],
                            lane,
                            gradient,
                        );
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
    winner: &mut [[S; L]; 2],
    [y, x]: [S; 2],
) {
    let [of_y, of_x] = winner;
    for (((maximum, of_y), of_x), &sample) in maximum.iter_mut().zip(of_y).zip(of_x).zip(sample) {
        let larger = sample > *maximum;
        *of_y = if larger { y } else { *of_y };
        *of_x = if larger { x } else { *of_x };
        *maximum = if larger { sample } else { *maximum };
    }
}
