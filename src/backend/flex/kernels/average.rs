//! An average: the rows of the window are summed with the weights of y, then the columns with the weights of x.

use std::ops::Range;

use pulp::Simd;

use super::along_y::{Reduced, Source};
use super::kernel::{AlongDepth, Kernel, Window};
use super::row_blocks::{Reduction, in_blocks, pixels_along_y};
use super::row_sums::add_pixels;
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::Weights;

pub struct Average<S> {
    /// The value of a sample out of bounds.
    pub outside: S,
}

impl<S: Sum> Average<S> {
    /// A single element, for position-sensitive operators. Its sums along y stay in registers: with that ps-rfcn took
    /// 1.3 ms instead of 2.1.
    #[inline(always)]
    pub fn element<const L: usize>(
        &self,
        simd: impl Simd,
        [y, x]: &[Weights<S>; 2],
        [row, column]: [usize; 2],
        rows: &impl Rows<S, L>,
    ) -> [S; L] {
        let (window_rows, weights_y, share_y) = y.element(row);
        let (window_columns, weights_x, share_x) = x.element(column);
        let mut columns = Columns {
            rows,
            window_rows,
            weights_y,
            next: window_columns.start,
            total: [S::default(); L],
        };
        let (eights, rest) = weights_x.as_chunks::<8>();
        for weights in eights {
            columns.add(simd, weights);
        }
        let (fours, rest) = rest.as_chunks::<4>();
        for weights in fours {
            columns.add(simd, weights);
        }
        match *rest {
            [a] => columns.add(simd, &[a]),
            [a, b] => columns.add(simd, &[a, b]),
            [a, b, c] => columns.add(simd, &[a, b, c]),
            _ => {}
        }
        add_outside(&mut columns.total, self.outside, share_y * share_x);
        columns.total
    }
}

/// The columns of an element's window, from the left to the right.
struct Columns<'a, S, R, const L: usize> {
    rows: &'a R,
    window_rows: Range<usize>,
    weights_y: &'a [S],
    next: usize,
    total: [S; L],
}

impl<S: Sum, R: Rows<S, L>, const L: usize> Columns<'_, S, R, L> {
    /// Adds the weighted sums of the rows of the next columns.
    #[inline(always)]
    fn add<const N: usize>(&mut self, simd: impl Simd, weights: &[S; N]) {
        let columns = self.next..self.next + N;
        self.next += N;
        let rows = self.window_rows.clone();
        let pixels = rows.map(|row| &self.rows.row(row, columns.clone()).as_chunks::<N>().0[0]);
        let sums = S::weighted_sum(simd, self.weights_y, pixels);
        for (weight, sum) in weights.iter().zip(&sums) {
            S::add_weighted(&mut self.total, *weight, sum);
        }
    }
}

/// Adds the value outside of the map to an element whose weights inside sum to `inside`.
#[inline(always)]
fn add_outside<S: Sum, const L: usize>(total: &mut [S; L], outside: S, inside: S) {
    if outside != S::default() {
        let share = outside * (S::ONE - inside);
        total.iter_mut().for_each(|total| *total += share);
    }
}

impl<S: Sum> Kernel<S> for Average<S> {
    type Plan = Weights<S>;

    const IN_MORE_LANES: bool = true;

    #[inline(always)]
    fn pixels_along_y(columns: usize) -> usize {
        pixels_along_y(columns)
    }

    #[inline(always)]
    fn compute<const L: usize>(
        &self,
        simd: impl Simd,
        [y, x]: [&Weights<S>; 2],
        [output_rows, output_columns]: [Range<usize>; 2],
        Window { rows, columns }: Window<'_, impl Rows<S, L>>,
        along_y: &mut [[S; L]],
        output: &mut [[S; L]],
    ) {
        let mut sums = WeightedSums {
            y,
            x,
            weights_left: &y.weights[y.first_weight(output_rows.start)..],
            output_columns,
            outside: self.outside,
            rows,
            columns: columns.clone(),
        };
        in_blocks(simd, &mut sums, output_rows, columns.len(), along_y, output);
    }
}

impl<S: Sum> AlongDepth<S> for Average<S> {
    #[inline(always)]
    fn add_slice<const L: usize>(&self, plan: &Weights<S>, slice: usize, pooled: &[[S; L]], output: &mut [[S; L]]) {
        for (element, output) in output.chunks_exact_mut(pooled.len()).enumerate() {
            if let Some(weight) = plan.weight_of(element, slice) {
                add_pixels(output, weight, pooled);
            }
        }
    }

    #[inline(always)]
    fn end<const L: usize>(&self, plan: &Weights<S>, output: &mut [[S; L]]) {
        let row = output.len() / plan.reads.len();
        for (read, output) in plan.reads.iter().zip(output.chunks_exact_mut(row)) {
            for total in output {
                add_outside(total, self.outside, read.share);
            }
        }
    }

    fn start(&self) -> S {
        S::default()
    }
}

/// Weighted sums along y, and of these along x.
struct WeightedSums<'a, S, R> {
    y: &'a Weights<S>,
    x: &'a Weights<S>,
    /// The weights along y of the output rows to come.
    weights_left: &'a [S],
    /// The columns of the output that are computed.
    output_columns: Range<usize>,
    outside: S,
    rows: &'a R,
    columns: Range<usize>,
}

impl<S: Sum, R: Rows<S, L>, const L: usize> Reduction<S, L> for WeightedSums<'_, S, R> {
    #[inline(always)]
    fn width(&self) -> usize {
        self.output_columns.len()
    }

    #[inline(always)]
    fn along_y(&mut self, output_row: usize, mut reduced: Reduced<'_, S, L>) {
        let pixels = &self.y.reads[output_row].pixels;
        let (weights, left) = self.weights_left.split_at(pixels.len());
        self.weights_left = left;
        let rows = Source {
            rows: self.rows,
            first: pixels.start,
            columns: &self.columns,
        };
        reduced.sum(weights, &rows);
    }

    #[inline(always)]
    fn along_x<const N: usize>(&self, simd: impl Simd, first: usize, pixels: &[[[S; L]; N]], output: &mut [[S; L]]) {
        let width = self.output_columns.len();
        for (column, (range, weights, share_x)) in self.x.elements(self.output_columns.clone()).enumerate() {
            let read = match range.is_empty() {
                true => &[],
                false => &pixels[range.start - self.columns.start..range.end - self.columns.start],
            };
            let mut totals = S::weighted_sum(simd, weights, read.iter());
            for (total, read_y) in totals.iter_mut().zip(&self.y.reads[first..]) {
                add_outside(total, self.outside, read_y.share * share_x);
            }
            for (row, total) in totals.iter().enumerate() {
                output[row * width + column] = *total;
            }
        }
    }
}
