//! From the gradient of elements to the pixels of a row.

use crate::backend::flex::dtype::Sum;
use crate::geometry::plan::Read;

/// Sets `sums` to the gradient of a row of elements times the weights of each pixel.
#[inline(always)]
pub fn spread<S: Sum, const L: usize>(
    sums: &mut [[S; L]],
    gradient: &[[S; L]],
    reads: &[Read<S>],
    weights: &[S],
    first_column: usize,
) {
    sums.fill([S::default(); L]);
    let mut rest = weights;
    // Copies, which the compiler keeps in a register.
    for (gradient, Read { pixels, .. }) in gradient.iter().copied().zip(reads) {
        let (weights, after) = rest.split_at(pixels.len());
        rest = after;
        if !pixels.is_empty() {
            let sums = &mut sums[pixels.start - first_column..pixels.end - first_column];
            for (sum, &weight) in sums.iter_mut().zip(weights) {
                S::add_weighted(sum, weight, &gradient);
            }
        }
    }
}
