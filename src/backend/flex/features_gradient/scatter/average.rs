//! An average: a pixel's gradient is the sum of weights times the gradient of elements.

use std::ops::Range;

use pulp::Simd;

use super::{GradientScratch, Scatter};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::features_gradient::sum_rows::SumRows;
use crate::backend::flex::kernels::spread;
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::{ChannelGroup, Weights};

pub struct ScatterAverage;

impl<S: Sum> Scatter<S> for ScatterAverage {
    type Plan = [Weights<S>; 2];

    #[inline(always)]
    fn add<const L: usize>(
        &self,
        simd: impl Simd,
        [y, x]: &[Weights<S>; 2],
        band: &ChannelGroup,
        columns: Range<usize>,
        gradient: &[[S; L]],
        _features: &impl Rows<S, L>,
        scratch: &mut GradientScratch<S, L>,
        sums: &mut SumRows<S, L>,
    ) {
        let [output_rows, output_columns] = band.elements.clone();
        scratch.row.resize(columns.len());
        let along_x = scratch.row.get_mut();
        let weights_x = &x.weights[x.first_weight(output_columns.start)..];
        let reads_x = &x.reads[output_columns];
        let rows = gradient.chunks_exact(reads_x.len()).zip(y.elements(output_rows));
        for (gradient, (rows, weights_y, _)) in rows {
            if rows.is_empty() {
                continue;
            }
            spread(along_x, gradient, reads_x, weights_x, columns.start);
            for (row, &weight) in rows.zip(weights_y) {
                S::add_weighted_row(simd, sums.row(row, columns.clone()), weight, along_x);
            }
        }
    }
}
