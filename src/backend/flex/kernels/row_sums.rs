//! Weighted sums of rows of pixels.

use crate::backend::flex::dtype::Sum;

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
    for (index, weights) in weights.chunks(ROWS).enumerate() {
        let row = |offset| row(index * ROWS + offset);
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
            S::add_weighted(&mut total, *weight, &row[pixel]);
        }
        *sum = total;
    }
}
