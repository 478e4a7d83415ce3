//! An average: a row of the output is a weighted sum of the window's rows, and an element
//! of it a weighted sum of that.

use std::ops::Range;

use pulp::Simd;

use super::along_y::{Reduced, Source};
use super::row_blocks::{Reduction, in_blocks, pixels_along_y};
use crate::backend::flex::engine::{Kernel, Window};
use crate::backend::flex::numbers::Sum;
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::{Planner, Weights};

/// An average.
pub struct Average<S> {
    outside: S,
}

impl<S: Sum> Average<S> {
    pub fn new(planner: &Planner<S>) -> Self {
        Self {
            outside: S::from_f64(planner.value_without_pixels()),
        }
    }
}

impl<S: Sum> Kernel<S> for Average<S> {
    type Plan = Weights<S>;

    #[inline(always)]
    fn pixels_along_y(columns: usize) -> usize {
        pixels_along_y(columns)
    }

    #[inline(always)]
    fn compute<const L: usize>(
        &self,
        simd: impl Simd,
        [y, x]: [&Weights<S>; 2],
        [of_rows, of_columns]: [Range<usize>; 2],
        Window { rows, columns }: Window<'_, impl Rows<S, L>>,
        along_y: &mut [[S; L]],
        output: &mut [[S; L]],
    ) {
        let mut sums = WeightedSums {
            y,
            x,
            weights_left: y.weights_from(of_rows.start),
            of_columns,
            outside: self.outside,
            rows,
            columns: columns.clone(),
        };
        in_blocks(simd, &mut sums, of_rows, columns.len(), along_y, output);
    }
}

/// Weighted sums along y, and of these along x.
struct WeightedSums<'a, S, R> {
    y: &'a Weights<S>,
    x: &'a Weights<S>,
    /// The weights along y of the output rows to come.
    weights_left: &'a [S],
    /// The columns of the output that are computed.
    of_columns: Range<usize>,
    outside: S,
    rows: &'a R,
    columns: Range<usize>,
}

impl<S: Sum, R: Rows<S, L>, const L: usize> Reduction<S, L> for WeightedSums<'_, S, R> {
    #[inline(always)]
    fn width(&self) -> usize {
        self.of_columns.len()
    }

    #[inline(always)]
    fn along_y(&mut self, output_row: usize, mut reduced: Reduced<'_, S, L>) {
        let pixels = &self.y.pixels[output_row];
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
        let width = self.of_columns.len();
        for (column, (range, weights, &share_x)) in self.x.elements(self.of_columns.clone()).enumerate() {
            let read = match range.is_empty() {
                true => &[],
                false => &pixels[range.start - self.columns.start..range.end - self.columns.start],
            };
            let mut totals = S::weighted_sum(simd, weights, read);
            if self.outside != S::default() {
                for (total, &share_y) in totals.iter_mut().zip(&self.y.share[first..]) {
                    let share = self.outside * (S::ONE - share_y * share_x);
                    total.iter_mut().for_each(|total| *total += share);
                }
            }
            for (row, total) in totals.iter().enumerate() {
                output[row * width + column] = *total;
            }
        }
    }
}
