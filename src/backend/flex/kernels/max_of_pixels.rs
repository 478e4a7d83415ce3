//! A maximum over bins of whole pixels: over a bin's rows first, then over its columns.

use std::ops::Range;

use pulp::Simd;

use super::along_y::{Reduced, Source};
use super::kernel::{AlongDepth, Kernel, Window};
use super::row_blocks::{Reduction, in_blocks, pixels_along_y};
use super::row_sums::{single_numbers, single_numbers_mut};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::{PixelRanges, Values};

pub struct MaxOfPixels<S>(pub Values<S>);

impl<S: Sum> Kernel<S> for MaxOfPixels<S> {
    type Plan = PixelRanges;

    const IN_MORE_LANES: bool = true;

    #[inline(always)]
    fn pixels_along_y(columns: usize) -> usize {
        pixels_along_y(columns)
    }

    #[inline(always)]
    fn compute<const L: usize>(
        &self,
        simd: impl Simd,
        [y, x]: [&PixelRanges; 2],
        [output_rows, output_columns]: [Range<usize>; 2],
        Window { rows, columns }: Window<'_, impl Rows<S, L>>,
        along_y: &mut [[S; L]],
        output: &mut [[S; L]],
    ) {
        let mut maxima = Maxima {
            y,
            x: &x[output_columns],
            values: self.0,
            rows,
            columns: columns.clone(),
        };
        in_blocks(simd, &mut maxima, output_rows, columns.len(), along_y, output);
    }
}

impl<S: Sum> AlongDepth<S> for MaxOfPixels<S> {
    #[inline(always)]
    fn add_slice<const L: usize>(&self, plan: &PixelRanges, slice: usize, pooled: &[[S; L]], output: &mut [[S; L]]) {
        for (slices, output) in plan.iter().zip(output.chunks_exact_mut(pooled.len())) {
            if slices.contains(&slice) {
                for (maximum, number) in single_numbers_mut(output).iter_mut().zip(single_numbers(pooled)) {
                    S::keep_larger(maximum, number);
                }
            }
        }
    }

    #[inline(always)]
    fn end<const L: usize>(&self, plan: &PixelRanges, output: &mut [[S; L]]) {
        let row = output.len() / plan.len();
        for (slices, output) in plan.iter().zip(output.chunks_exact_mut(row)) {
            if slices.is_empty() {
                output.fill([self.0.outside; L]);
            }
        }
    }

    fn start(&self) -> S {
        S::LEAST
    }
}

/// Maxima along y, and of these along x.
struct Maxima<'a, S, R> {
    y: &'a PixelRanges,
    x: &'a [Range<usize>],
    values: Values<S>,
    rows: &'a R,
    columns: Range<usize>,
}

impl<S: Sum, R: Rows<S, L>, const L: usize> Reduction<S, L> for Maxima<'_, S, R> {
    #[inline(always)]
    fn width(&self) -> usize {
        self.x.len()
    }

    #[inline(always)]
    fn along_y(&mut self, output_row: usize, mut reduced: Reduced<'_, S, L>) {
        let bin_y = &self.y[output_row];
        let rows = Source {
            rows: self.rows,
            first: bin_y.start,
            columns: &self.columns,
        };
        reduced.maxima(bin_y.len(), &rows);
    }

    #[inline(always)]
    fn along_x<const N: usize>(&self, simd: impl Simd, first: usize, pixels: &[[[S; L]; N]], output: &mut [[S; L]]) {
        let width = self.x.len();
        let Values { start, outside } = self.values;
        for (column, bin_x) in self.x.iter().enumerate() {
            let mut maxima = [[outside; L]; N];
            if !bin_x.is_empty() {
                let bin = bin_x.start - self.columns.start..bin_x.end - self.columns.start;
                maxima = S::maxima(simd, start, &pixels[bin]);
            }
            for (row, maximum) in maxima.iter().enumerate() {
                output[row * width + column] = *maximum;
            }
        }
        for (output, bin_y) in output.chunks_exact_mut(width).zip(&self.y[first..first + N]) {
            if bin_y.is_empty() {
                output.fill([outside; L]);
            }
        }
    }
}
