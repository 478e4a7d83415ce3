//! Loops that LLVM makes vectors of, for any processor.

use super::SimdOps;

// One row at a time: LLVM does not vectorize across rows.
#[inline(always)]
pub fn weighted_sum<'a, S: SimdOps + 'a, const L: usize, const N: usize>(
    weights: &[S],
    pixels: impl Iterator<Item = &'a [[S; L]; N]> + Clone,
) -> [[S; L]; N] {
    let mut totals = [[S::default(); L]; N];
    for (row, total) in totals.iter_mut().enumerate() {
        let mut sum = [S::default(); L];
        for (&weight, pixel) in weights.iter().zip(pixels.clone()) {
            for (sum, &element) in sum.iter_mut().zip(&pixel[row]) {
                *sum += weight * element;
            }
        }
        *total = sum;
    }
    totals
}

#[inline(always)]
pub fn add_weighted<S: SimdOps, const L: usize>(total: &mut [S; L], weight: S, pixel: &[S; L]) {
    for (total, &element) in total.iter_mut().zip(pixel) {
        *total += weight * element;
    }
}

#[inline(always)]
pub fn add_weighted_row<S: SimdOps, const L: usize>(sums: &mut [[S; L]], weight: S, pixels: &[[S; L]]) {
    for (sum, pixel) in sums.iter_mut().zip(pixels) {
        S::add_weighted(sum, weight, pixel);
    }
}

#[inline(always)]
pub fn keep_larger<S: SimdOps, const L: usize>(maximum: &mut [S; L], pixel: &[S; L]) {
    for (maximum, &element) in maximum.iter_mut().zip(pixel) {
        *maximum = larger(*maximum, element);
    }
}

#[inline(always)]
pub fn maxima<S: SimdOps, const L: usize, const N: usize>(start: S, pixels: &[[[S; L]; N]]) -> [[S; L]; N] {
    let mut maxima = [[start; L]; N];
    for (row, maximum) in maxima.iter_mut().enumerate() {
        let mut largest = [start; L];
        for pixel in pixels {
            for (largest, &element) in largest.iter_mut().zip(&pixel[row]) {
                *largest = larger(*largest, element);
            }
        }
        *maximum = largest;
    }
    maxima
}

#[inline(always)]
pub fn transpose<N: Copy + Default, const L: usize>(square: [[N; L]; L]) -> [[N; L]; L] {
    let mut transposed = [[N::default(); L]; L];
    for (column, row) in square.iter().enumerate() {
        for (transposed, &element) in transposed.iter_mut().zip(row) {
            transposed[column] = element;
        }
    }
    transposed
}

/// The larger of two; the first if the second is NaN.
#[inline(always)]
fn larger<N: PartialOrd>(first: N, second: N) -> N {
    if second > first { second } else { first }
}
