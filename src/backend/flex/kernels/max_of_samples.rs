//! A maximum over samples: the two rows of a sample of y are summed, then the two columns of each sample of x.

use std::ops::Range;

use pulp::Simd;

use super::kernel::{Kernel, Window};
use super::row_sums::sum_of_two;
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::{SampleTaps, Values};

pub struct MaxOfSamples<S>(pub Values<S>);

impl<S: Sum> Kernel<S> for MaxOfSamples<S> {
    type Plan = SampleTaps<S>;

    #[inline(always)]
    fn pixels_along_y(columns: usize) -> usize {
        columns
    }

    #[inline(always)]
    fn compute<const L: usize>(
        &self,
        _simd: impl Simd,
        [y, x]: [&SampleTaps<S>; 2],
        [output_rows, output_columns]: [Range<usize>; 2],
        Window { rows, columns }: Window<'_, impl Rows<S, L>>,
        along_y: &mut [[S; L]],
        output: &mut [[S; L]],
    ) {
        let Values { start, outside } = self.0;
        let outputs = output.chunks_exact_mut(output_columns.len());
        for (output, (samples_y, complete_y)) in outputs.zip(y.elements(output_rows)) {
            output.fill([start; L]);
            for taps in samples_y {
                let pair = [taps.low, taps.high].map(|row| rows.row(row, columns.clone()));
                sum_of_two(along_y, [taps.low_weight, taps.high_weight], pair);
                for (maximum, (samples_x, _)) in output.iter_mut().zip(x.elements(output_columns.clone())) {
                    for taps in samples_x {
                        let mut sample = [S::default(); L];
                        S::add_weighted(&mut sample, taps.low_weight, &along_y[taps.low - columns.start]);
                        S::add_weighted(&mut sample, taps.high_weight, &along_y[taps.high - columns.start]);
                        S::keep_larger(maximum, &sample);
                    }
                }
            }
            for (maximum, (samples_x, complete_x)) in output.iter_mut().zip(x.elements(output_columns.clone())) {
                if samples_y.is_empty() || samples_x.is_empty() {
                    *maximum = [outside; L];
                } else if !(complete_y && complete_x) {
                    S::keep_larger(maximum, &[outside; L]);
                }
            }
        }
    }
}
