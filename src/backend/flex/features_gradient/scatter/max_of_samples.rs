//! A maximum over samples: the pixels of the largest sample get the gradient times their weights.

use std::ops::Range;

use pulp::Simd;

use super::{GradientScratch, Reads, Scatter};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::features_gradient::sum_rows::SumRows;
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::{ChannelGroup, SampleTaps, Values};

pub struct ScatterMaxOfSamples<S>(pub Values<S>);

impl<S: Sum> Scatter<S> for ScatterMaxOfSamples<S> {
    type Plan = [SampleTaps<S>; 2];

    fn reads(&self) -> Reads {
        Reads::Pixels
    }

    #[inline(always)]
    fn add<const L: usize>(
        &self,
        _simd: impl Simd,
        plan: &[SampleTaps<S>; 2],
        band: &ChannelGroup,
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut GradientScratch<S, L>,
        sums: &mut SumRows<S, L>,
    ) {
        let ([y, x], [output_rows, output_columns]) = (plan, band.elements.clone());
        let winners = &mut scratch.winners;
        for (row, gradient) in output_rows.zip(gradient.chunks_exact(output_columns.len())) {
            winners.find(self.0, plan, row, &output_columns, &columns, features);
            let (taps_y, samples_x) = (&y.taps[y.samples[row].clone()], &x.samples[output_columns.clone()]);
            for (element, (gradient, samples)) in gradient.iter().zip(samples_x).enumerate() {
                for (lane, &gradient) in gradient.iter().enumerate() {
                    let Some([index_y, index_x]) = winners.winner(element, lane) else {
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
