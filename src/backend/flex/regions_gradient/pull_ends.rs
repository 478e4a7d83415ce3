//! The kernels of the gradient of boxes: from the gradient of elements to the gradient of the ends of their box.

use std::ops::Range;

use super::axis::{EndGradients, PullEnds};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::features_gradient::scatter::{GradientScratch, ScatterMaxOfSamples};
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::{Planner, Read, SampleTaps, Weights};

/// An average. The gradient of a row of the output is spread along x by weights, and by the slopes of weights for both
/// ends. Its products with the rows of pixels, times their slopes and weights along y, are added to the ends.
pub struct PullAverage;

impl<S: Sum> PullEnds<S> for PullAverage {
    type Plan = Weights<S>;

    #[inline(always)]
    fn add<const L: usize>(
        &self,
        [y, x]: [&Weights<S>; 2],
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut GradientScratch<S, L>,
        end_gradients: &mut EndGradients,
    ) {
        scratch.spread.iter_mut().for_each(|row| row.resize(columns.len()));
        let [by_weight, by_low, by_high] = &mut scratch.spread;
        let mut along_x = [
            (by_weight.get_mut(), &x.weights),
            (by_low.get_mut(), &x.slopes[0]),
            (by_high.get_mut(), &x.slopes[1]),
        ];
        let mut first = 0;
        for (gradient, read_y) in gradient.chunks_exact(x.reads.len()).zip(&y.reads) {
            let rows = &read_y.pixels;
            let indices = first..first + rows.len();
            first = indices.end;
            if rows.is_empty() {
                continue;
            }
            for (sums, weights) in &mut along_x {
                spread(sums, gradient, &x.reads, weights, columns.start);
            }
            for (row, index) in rows.clone().zip(indices) {
                let pixels = features.row(row, columns.clone());
                let by_weight = product(along_x[0].0, pixels);
                let by_low = product(along_x[1].0, pixels);
                let by_high = product(along_x[2].0, pixels);
                let weight = y.weights[index].into();
                for end in [0, 1] {
                    end_gradients[0][end] += y.slopes[end][index].into() * by_weight;
                }
                end_gradients[1][0] += weight * by_low;
                end_gradients[1][1] += weight * by_high;
            }
        }
    }
}

/// Sets `sums` to the gradient of a row of elements times the weights of each pixel.
#[inline(always)]
fn spread<S: Sum, const L: usize>(
    sums: &mut [[S; L]],
    gradient: &[[S; L]],
    reads: &[Read<S>],
    weights: &[S],
    first_column: usize,
) {
    sums.fill([S::default(); L]);
    let mut rest = weights;
    // Copies, which the compiler keeps in a register.
    for (gradient, Read { pixels, .. }) in gradient.iter().copied().zip(reads) {
        let (weights, after) = rest.split_at(pixels.len());
        rest = after;
        if !pixels.is_empty() {
            let sums = &mut sums[pixels.start - first_column..pixels.end - first_column];
            for (sum, &weight) in sums.iter_mut().zip(weights) {
                S::add_weighted(sum, weight, &gradient);
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
pub struct PullMaxOfSamples<S>(ScatterMaxOfSamples<S>);

impl<S: Sum> PullMaxOfSamples<S> {
    pub fn new(planner: &Planner<S>) -> Self {
        Self(ScatterMaxOfSamples::new(planner))
    }
}

impl<S: Sum> PullEnds<S> for PullMaxOfSamples<S> {
    type Plan = SampleTaps<S>;

    #[inline(always)]
    fn add<const L: usize>(
        &self,
        [y, x]: [&SampleTaps<S>; 2],
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut GradientScratch<S, L>,
        end_gradients: &mut EndGradients,
    ) {
        let elements = 0..x.samples.len();
        for (row, gradient) in gradient.chunks_exact(elements.len()).enumerate() {
            self.0.winners([y, x], row, &elements, &columns, features, scratch);
            let (first_y, samples_x) = (y.samples[row].start, &x.samples);
            for (element, (gradient, samples)) in gradient.iter().zip(samples_x).enumerate() {
                for (lane, &gradient) in gradient.iter().enumerate() {
                    let Some([index_y, index_x]) = scratch.winner(element, lane) else {
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
                        end_gradients[0][end] += gradient * by_y * y.movement[at_y][end].into();
                        end_gradients[1][end] += gradient * by_x * x.movement[at_x][end].into();
                    }
                }
            }
        }
    }
}
