//! A maximum over bins of whole pixels: over a bin's rows first, then over its columns.

use std::ops::Range;

use super::row_operations::{keep_larger, maxima};
use crate::backend::flex::engine::Kernel;
use crate::backend::flex::numbers::Sum;
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::{PixelRanges, Planner};

/// A maximum over bins of whole pixels.
pub struct MaxOfPixels<S> {
    outside: S,
}

impl<S: Sum> MaxOfPixels<S> {
    pub fn new(planner: &Planner<S>) -> Self {
        Self {
            outside: S::from_f64(planner.value_without_pixels()),
        }
    }
}

impl<S: Sum> Kernel<S> for MaxOfPixels<S> {
    type Plan = PixelRanges;

    #[inline(always)]
    fn compute<const L: usize>(
        &self,
        [y, x]: [&PixelRanges; 2],
        [of_rows, of_columns]: [Range<usize>; 2],
        columns: Range<usize>,
        rows: &impl Rows<S, L>,
        along_y: &mut [[S; L]],
        output: &mut [[S; L]],
    ) {
        let bins_x = &x[of_columns];
        for (output, bin_y) in output.chunks_exact_mut(bins_x.len()).zip(&y[of_rows]) {
            maxima(along_y, bin_y.clone(), |row| rows.row(row, columns.clone()));
            for (output, bin_x) in output.iter_mut().zip(bins_x) {
                let mut maximum = [S::LEAST; L];
                if bin_x.is_empty() || bin_y.is_empty() {
                    maximum = [self.outside; L];
                } else {
                    let pixels = bin_x.start - columns.start..bin_x.end - columns.start;
                    for pixel in &along_y[pixels] {
                        keep_larger(&mut maximum, pixel);
                    }
                }
                *output = maximum;
            }
        }
    }
}
