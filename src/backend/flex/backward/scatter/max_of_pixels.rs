//! A maximum over bins of whole pixels: the first of the largest pixels, row by row, gets all.

use std::ops::Range;

use super::{NONE, Scatter, Scratch, keep_first_larger};
use crate::backend::flex::backward::sum_rows::SumRows;
use crate::backend::flex::numbers::Sum;
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::PixelRanges;

/// How many rows of pixels are compared in one pass.
const ROWS: usize = 4;

/// Sums of fewer pixels than this have offsets whose sum with a place fits in 32 bits. The rows of a window are rounded
/// up to a power of two.
const MOST_PIXELS: usize = 1 << 30;

/// A maximum over bins of whole pixels.
pub struct ScatterMaxOfPixels;

impl<S: Sum> Scatter<S> for ScatterMaxOfPixels {
    type Plan = PixelRanges;

    const READS_FEATURES: bool = true;

    #[inline(always)]
    fn add<const L: usize>(
        &self,
        [y, x]: [&PixelRanges; 2],
        [of_rows, of_columns]: [Range<usize>; 2],
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut Scratch<S, L>,
        sums: &mut SumRows<S, L>,
    ) {
        let width = sums.width();
        assert!(
            sums.pixel_count() < MOST_PIXELS,
            "the gradient of a maximum of whole pixels needs a window of fewer than 2^29 pixels"
        );
        let bins_x = &x[of_columns];
        for (bin_y, gradient) in y[of_rows].iter().zip(gradient.chunks_exact(bins_x.len())) {
            if bin_y.is_empty() {
                continue;
            }
            largest_of_columns(bin_y.clone(), &columns, width, features, scratch);
            let first = sums.place([bin_y.start, columns.start]);
            scratch.offsets.clear();
            scratch.offsets.resize(bins_x.len(), [NONE; L]);
            for (offsets, bin_x) in scratch.offsets.iter_mut().zip(bins_x) {
                if bin_x.is_empty() {
                    continue;
                }
                // Local: where winners are in memory, the compiler compares one by one, and takes 3 times as long.
                let (mut maximum, mut winner) = ([S::LEAST; L], [NONE; L]);
                let of_bin = bin_x.start - columns.start..bin_x.end - columns.start;
                let pixels = scratch.maxima[of_bin.clone()].iter().zip(&scratch.rows[of_bin.clone()]);
                for (column, (pixel, row)) in (of_bin.start as i32..).zip(pixels) {
                    for lane in 0..L {
                        // Of equal pixels the upper one wins, and of those in one row the left one. `&` and `|` do not
                        // branch.
                        let (pixel, offset) = (pixel[lane], row[lane] + column);
                        let wins = (pixel > maximum[lane]) | ((pixel == maximum[lane]) & (offset < winner[lane]));
                        winner[lane] = if wins { offset } else { winner[lane] };
                        maximum[lane] = if wins { pixel } else { maximum[lane] };
                    }
                }
                *offsets = winner;
            }
            sums.add_at(first, &mut scratch.offsets, gradient);
        }
    }
}

/// For each column of a window, the largest of the pixels of some rows, and the offset of the first of the largest:
/// `width` for each row below the first.
#[inline(always)]
fn largest_of_columns<S: Sum, const L: usize>(
    rows: Range<usize>,
    columns: &Range<usize>,
    width: usize,
    features: &impl Rows<S, L>,
    scratch: &mut Scratch<S, L>,
) {
    scratch.maxima.clear();
    scratch.maxima.resize(columns.len(), [S::LEAST; L]);
    scratch.rows.clear();
    scratch.rows.resize(columns.len(), [NONE; L]);
    for first in rows.clone().step_by(ROWS) {
        let offset = ((first - rows.start) * width) as i32;
        let row = |number: usize| features.row(first + number, columns.clone());
        match rows.end - first {
            1 => keep_larger_rows([row(0)], offset, width as i32, scratch),
            2 => keep_larger_rows([row(0), row(1)], offset, width as i32, scratch),
            3 => keep_larger_rows([row(0), row(1), row(2)], offset, width as i32, scratch),
            _ => keep_larger_rows([row(0), row(1), row(2), row(3)], offset, width as i32, scratch),
        }
    }
}

/// Keeps larger pixels of rows, of which the first has an offset and the others `width` more than the one above.
#[inline(always)]
fn keep_larger_rows<S: Sum, const L: usize, const N: usize>(
    rows: [&[[S; L]]; N],
    offset: i32,
    width: i32,
    scratch: &mut Scratch<S, L>,
) {
    let rows = rows.map(|row| &row[..scratch.maxima.len()]);
    for (column, (maximum, winner)) in scratch.maxima.iter_mut().zip(&mut scratch.rows).enumerate() {
        let (mut largest, mut first, mut offset) = (*maximum, *winner, offset);
        for row in &rows {
            keep_first_larger(&mut largest, &row[column], &mut first, offset);
            offset += width;
        }
        *maximum = largest;
        *winner = first;
    }
}
