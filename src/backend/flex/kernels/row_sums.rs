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

/// Adds pixels times a weight to sums.
#[inline(always)]
pub fn add_pixels<S: Sum, const L: usize>(sums: &mut [[S; L]], weight: S, pixels: &[[S; L]]) {
    for (sum, number) in single_numbers_mut(sums).iter_mut().zip(single_numbers(pixels)) {
        S::add_weighted(sum, weight, number);
    }
}

/// The numbers of pixels without their channels. In a loop over whole pixels, LLVM gathers the numbers of each channel,
/// which takes several times as long.
#[inline(always)]
pub fn single_numbers<S, const L: usize>(pixels: &[[S; L]]) -> &[[S; 1]] {
    pixels.as_flattened().as_chunks().0
}

#[inline(always)]
pub fn single_numbers_mut<S, const L: usize>(pixels: &mut [[S; L]]) -> &mut [[S; 1]] {
    pixels.as_flattened_mut().as_chunks_mut().0
}
