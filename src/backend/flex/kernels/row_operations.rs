//! Sums and maxima of rows of pixels.

use std::ops::Range;

use crate::backend::flex::numbers::Sum;

/// How many rows are added in one pass.
const ROWS: usize = 4;

/// Sets `sums` to the sum of rows times their weights, from the first to the last.
#[inline(always)]
pub fn weighted_sum<'a, S: Sum, const L: usize>(
    sums: &mut [[S; L]],
    weights: &[S],
    row: impl Fn(usize) -> &'a [[S; L]],
) {
    sums.fill([S::default(); L]);
    for (number, weights) in weights.chunks(ROWS).enumerate() {
        let row = |offset| row(number * ROWS + offset);
        match *weights {
            [a] => add_rows(sums, [a], [row(0)]),
            [a, b] => add_rows(sums, [a, b], [row(0), row(1)]),
            [a, b, c] => add_rows(sums, [a, b, c], [row(0), row(1), row(2)]),
            [a, b, c, d] => add_rows(sums, [a, b, c, d], [row(0), row(1), row(2), row(3)]),
            _ => {}
        }
    }
}

#[inline(always)]
fn add_rows<S: Sum, const L: usize, const N: usize>(sums: &mut [[S; L]], weights: [S; N], rows: [&[[S; L]]; N]) {
    let rows = rows.map(|row| &row[..sums.len()]);
    for (pixel, sum) in sums.iter_mut().enumerate() {
        let mut total = *sum;
        for (weight, row) in weights.iter().zip(&rows) {
            add(&mut total, *weight, &row[pixel]);
        }
        *sum = total;
    }
}

/// Sets `maxima` to the maxima of rows, in each pixel.
#[inline(always)]
pub fn maxima<'a, S: Sum, const L: usize>(
    maxima: &mut [[S; L]],
    rows: Range<usize>,
    row: impl Fn(usize) -> &'a [[S; L]],
) {
    maxima.fill([S::LEAST; L]);
    for first in rows.clone().step_by(ROWS) {
        match rows.end - first {
            1 => keep_larger_rows(maxima, [row(first)]),
            2 => keep_larger_rows(maxima, [row(first), row(first + 1)]),
            3 => keep_larger_rows(maxima, [row(first), row(first + 1), row(first + 2)]),
            _ => {
                let rows = [row(first), row(first + 1), row(first + 2), row(first + 3)];
                keep_larger_rows(maxima, rows);
            }
        }
    }
}

#[inline(always)]
fn keep_larger_rows<S: Sum, const L: usize, const N: usize>(maxima: &mut [[S; L]], rows: [&[[S; L]]; N]) {
    let rows = rows.map(|row| &row[..maxima.len()]);
    for (pixel, maximum) in maxima.iter_mut().enumerate() {
        let mut largest = *maximum;
        for row in &rows {
            keep_larger(&mut largest, &row[pixel]);
        }
        *maximum = largest;
    }
}

/// Adds a weighted pixel.
#[inline(always)]
pub fn add<S: Sum, const L: usize>(total: &mut [S; L], weight: S, pixel: &[S; L]) {
    for (total, &number) in total.iter_mut().zip(pixel) {
        *total += weight * number;
    }
}

/// Takes the larger of two pixels in each channel.
#[inline(always)]
pub fn keep_larger<S: Sum, const L: usize>(maximum: &mut [S; L], pixel: &[S; L]) {
    for (maximum, &number) in maximum.iter_mut().zip(pixel) {
        *maximum = maximum.larger(number);
    }
}
