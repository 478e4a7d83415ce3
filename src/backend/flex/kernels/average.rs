//! An average: a row of the output is a weighted sum of the window's rows, and an element
//! of it a weighted sum of that.

use std::ops::Range;

use super::row_operations::{add, weighted_sum};
use crate::backend::flex::engine::Kernel;
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
    fn compute<const L: usize>(
        &self,
        [y, x]: [&Weights<S>; 2],
        [of_rows, of_columns]: [Range<usize>; 2],
        columns: Range<usize>,
        rows: &impl Rows<S, L>,
        along_y: &mut [[S; L]],
        output: &mut [[S; L]],
    ) {
        let zero = S::default();
        let output_rows = output.chunks_exact_mut(of_columns.len());
        for (output, (pixels, weights, &share_y)) in output_rows.zip(y.elements(of_rows)) {
            weighted_sum(along_y, weights, |offset| {
                rows.row(pixels.start + offset, columns.clone())
            });
            for (output, (pixels, weights, &share_x)) in output.iter_mut().zip(x.elements(of_columns.clone())) {
                let mut total = [zero; L];
                if !pixels.is_empty() {
                    let pixels = pixels.start - columns.start..pixels.end - columns.start;
                    for (&weight, pixel) in weights.iter().zip(&along_y[pixels]) {
                        add(&mut total, weight, pixel);
                    }
                }
                if self.outside != zero {
                    let share = self.outside * (S::ONE - share_y * share_x);
                    total.iter_mut().for_each(|total| *total += share);
                }
                *output = total;
            }
        }
    }
}
