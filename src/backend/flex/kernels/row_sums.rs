//! The weighted sum of two rows of pixels.

use crate::backend::flex::dtype::Sum;

/// Sets `sums` to the sum of two rows times their weights.
#[inline(always)]
pub fn sum_of_two<S: Sum, const L: usize>(sums: &mut [[S; L]], weights: [S; 2], rows: [&[[S; L]]; 2]) {
    let [first, second] = rows.map(|row| &row[..sums.len()]);
    for (pixel, sum) in sums.iter_mut().enumerate() {
        let mut total = [S::default(); L];
        S::add_weighted(&mut total, weights[0], &first[pixel]);
        S::add_weighted(&mut total, weights[1], &second[pixel]);
        *sum = total;
    }
}
