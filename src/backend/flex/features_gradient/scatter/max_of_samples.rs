//! A maximum over samples: the pixels of the largest sample get the gradient times their weights.

use std::ops::Range;

use pulp::Simd;

use super::{GradientScratch, NONE, Reads, Scatter};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::features_gradient::sum_rows::SumRows;
use crate::backend::flex::forward::kernels::weighted_sum;
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::{Planner, SampleTaps};

pub struct ScatterMaxOfSamples<S> {
    start: S,
    outside: S,
}

impl<S: Sum> ScatterMaxOfSamples<S> {
    pub fn new(planner: &Planner<S>) -> Self {
        Self {
            start: planner.maximum_from(),
            outside: S::from_f64(planner.value_without_pixels()),
        }
    }

    /// The largest samples of some elements of a row of the output.
    #[inline(always)]
    pub fn winners<const L: usize>(
        &self,
        [y, x]: [&SampleTaps<S>; 2],
        output_row: usize,
        output_columns: &Range<usize>,
        columns: &Range<usize>,
        features: &impl Rows<S, L>,
        scratch: &mut GradientScratch<S, L>,
    ) {
        let width = output_columns.len();
        let (samples_x, complete_x) = (&x.samples[output_columns.clone()], &x.complete[output_columns.clone()]);
        scratch.row.resize(columns.len());
        scratch.maxima.clear();
        scratch.maxima.resize(width, [self.start; L]);
        scratch.winners.clear();
        scratch.winners.resize(width, [[NONE; L]; 2]);
        for (index_y, sample_y) in y.samples[output_row].clone().enumerate() {
            let index_y = index_y as i32;
            let taps = y.taps[sample_y];
            let pair = [taps.low, taps.high];
            weighted_sum(scratch.row.get_mut(), &[taps.low_weight, taps.high_weight], |tap| {
                features.row(pair[tap], columns.clone())
            });
            let along_y = scratch.row.get();
            let elements = scratch.maxima.iter_mut().zip(&mut scratch.winners).zip(samples_x);
            for ((maximum, winner), samples) in elements {
                for (index_x, taps) in (0..).zip(&x.taps[samples.clone()]) {
                    let mut sample = [S::default(); L];
                    S::add_weighted(&mut sample, taps.low_weight, &along_y[taps.low - columns.start]);
                    S::add_weighted(&mut sample, taps.high_weight, &along_y[taps.high - columns.start]);
                    keep_winner(maximum, &sample, winner, [index_y, index_x]);
                }
            }
        }
        let elements = scratch.maxima.iter().zip(&mut scratch.winners).zip(complete_x);
        for ((maximum, winner), &complete_x) in elements {
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

    fn reads(&self) -> Reads {
        Reads::Pixels
    }

    #[inline(always)]
    fn add<const L: usize>(
        &self,
        _simd: impl Simd,
        [y, x]: [&SampleTaps<S>; 2],
        [output_rows, output_columns]: [Range<usize>; 2],
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut GradientScratch<S, L>,
        sums: &mut SumRows<S, L>,
    ) {
        for (row, gradient) in output_rows.zip(gradient.chunks_exact(output_columns.len())) {
            self.winners([y, x], row, &output_columns, &columns, features, scratch);
            let (taps_y, samples_x) = (&y.taps[y.samples[row].clone()], &x.samples[output_columns.clone()]);
            for (element, (gradient, samples)) in gradient.iter().zip(samples_x).enumerate() {
                for (lane, &gradient) in gradient.iter().enumerate() {
                    let Some([index_y, index_x]) = scratch.winner(element, lane) else {
                        continue;
                    };
                    let (y, x) = (taps_y[index_y], x.taps[samples.start + index_x]);
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
