//! The gradient of boxes by axis plans: from the gradient of elements to the gradient of the ends of their box.

use std::ops::Range;

use super::pass::{PullRegion, PullScratch};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::kernels::spread;
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::{ChannelGroup, SampleTaps, Values, Weights};

/// An average. The gradient of a row of the output is spread along x by weights, and by the slopes of weights for both
/// ends. Its products with the rows of pixels, times their slopes and weights along y, are added to the ends.
pub struct PullAverage;

impl<S: Sum> PullRegion<S> for PullAverage {
    type Plan = [Weights<S>; 2];

    #[inline(always)]
    fn add<const L: usize>(
        &self,
        [y, x]: &[Weights<S>; 2],
        group: &ChannelGroup,
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut PullScratch<S, L>,
        ends: &mut [f64],
    ) {
        let [output_rows, output_columns] = group.elements.clone();
        scratch.spread.iter_mut().for_each(|row| row.resize(columns.len()));
        let [by_weight, by_low, by_high] = &mut scratch.spread;
        let first_weight = x.first_weight(output_columns.start);
        let reads_x = &x.reads[output_columns];
        let mut along_x = [
            (by_weight.get_mut(), &x.weights[first_weight..]),
            (by_low.get_mut(), &x.slopes[0][first_weight..]),
            (by_high.get_mut(), &x.slopes[1][first_weight..]),
        ];
        for (gradient, output_row) in gradient.chunks_exact(reads_x.len()).zip(output_rows) {
            let rows = &y.reads[output_row].pixels;
            if rows.is_empty() {
                continue;
            }
            for (sums, weights) in &mut along_x {
                spread(sums, gradient, reads_x, weights, columns.start);
            }
            for (row, index) in rows.clone().zip(y.first_weight(output_row)..) {
                let pixels = features.row(row, columns.clone());
                let by_weight = product(along_x[0].0, pixels);
                let by_low = product(along_x[1].0, pixels);
                let by_high = product(along_x[2].0, pixels);
                let weight = y.weights[index].into();
                ends[0] += y.slopes[0][index].into() * by_weight;
                ends[1] += y.slopes[1][index].into() * by_weight;
                ends[2] += weight * by_low;
                ends[3] += weight * by_high;
            }
        }
    }
}

/// The sum of the products of two rows, over all channels.
#[inline(always)]
fn product<S: Sum, const L: usize>(left: &[[S; L]], right: &[[S; L]]) -> f64 {
    let mut total = [S::default(); L];
    for (left, right) in left.iter().zip(right) {
        for lane in 0..L {
            total[lane] += left[lane] * right[lane];
        }
    }
    total.into_iter().map(Into::<f64>::into).sum()
}

/// A maximum over samples: the slopes of the largest sample's weights go to the ends.
pub struct PullMaxOfSamples<S>(pub Values<S>);

impl<S: Sum> PullRegion<S> for PullMaxOfSamples<S> {
    type Plan = [SampleTaps<S>; 2];

    #[inline(always)]
    fn add<const L: usize>(
        &self,
        plan: &[SampleTaps<S>; 2],
        group: &ChannelGroup,
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut PullScratch<S, L>,
        ends: &mut [f64],
    ) {
        let ([y, x], [output_rows, output_columns]) = (plan, group.elements.clone());
        let winners = &mut scratch.winners;
        for (row, gradient) in output_rows.zip(gradient.chunks_exact(output_columns.len())) {
            winners.find(self.0, plan, row, &output_columns, &columns, features);
            let (first_y, samples_x) = (y.samples[row].start, &x.samples[output_columns.clone()]);
            for (element, (gradient, samples)) in gradient.iter().zip(samples_x).enumerate() {
                for (lane, &gradient) in gradient.iter().enumerate() {
                    let Some([index_y, index_x]) = winners.winner(element, lane) else {
                        continue;
                    };
                    let (at_y, at_x) = (first_y + index_y, samples.start + index_x);
                    let (taps_y, taps_x) = (y.taps[at_y], x.taps[at_x]);
                    let pixel = |row, column: usize| -> f64 { features.row(row, column..column + 1)[0][lane].into() };
                    // The two rows, weighted along x, and as the sample moves along x.
                    let low = [pixel(taps_y.low, taps_x.low), pixel(taps_y.low, taps_x.high)];
                    let high = [pixel(taps_y.high, taps_x.low), pixel(taps_y.high, taps_x.high)];
                    let along_x = |weights: [f64; 2], row: [f64; 2]| weights[0] * row[0] + weights[1] * row[1];
                    let weights_x = [taps_x.low_weight.into(), taps_x.high_weight.into()];
                    let weights_y = [taps_y.low_weight.into(), taps_y.high_weight.into()];
                    let [low_x, high_x] = x.by_position[at_x];
                    let [low_y, high_y] = y.by_position[at_y];
                    let (slopes_x, slopes_y) = ([low_x.into(), high_x.into()], [low_y.into(), high_y.into()]);
                    let by_y = along_x(slopes_y, [along_x(weights_x, low), along_x(weights_x, high)]);
                    let by_x = along_x(weights_y, [along_x(slopes_x, low), along_x(slopes_x, high)]);
                    let gradient: f64 = gradient.into();
                    for end in [0, 1] {
                        ends[end] += gradient * by_y * y.movement[at_y][end].into();
                        ends[2 + end] += gradient * by_x * x.movement[at_x][end].into();
                    }
                }
            }
        }
    }
}
