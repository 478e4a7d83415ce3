//! WebAssembly's vectors of 128 bits. Browsers get a build that is optimized for size, in which LLVM vectorizes less.

use std::arch::wasm32::{f32x4_add, f32x4_mul, f32x4_pmax, f32x4_splat, i32x4_shuffle, v128};

use bytemuck::cast;
use pulp::Simd;

pub use super::absent::{Stream, dispatch_gradient, last_cache, prefetch};
use super::{F16Ops, SimdOps, portable};

/// Whether `pulp` knows vector instructions that these processors usually have.
pub const HAS_VECTORS: bool = false;

/// Whether kernels are compiled for more lanes too. That was timed on x86-64 only.
pub const HAS_MORE_LANES: bool = false;

impl F16Ops for f32 {}

impl SimdOps for f64 {}

impl SimdOps for f32 {
    #[inline(always)]
    fn weighted_sum<'a, V: Simd, const L: usize, const N: usize>(
        _simd: V,
        weights: &[Self],
        pixels: impl Iterator<Item = &'a [[Self; L]; N]> + Clone,
    ) -> [[Self; L]; N] {
        match L {
            8 => {
                let pixels = pixels.map(bytemuck::cast_ref::<_, [[[f32; 4]; 2]; N]>);
                cast(weighted_sum_of_fours(weights, pixels))
            }
            16 => {
                let pixels = pixels.map(bytemuck::cast_ref::<_, [[[f32; 4]; 4]; N]>);
                cast(weighted_sum_of_fours(weights, pixels))
            }
            _ => portable::weighted_sum(weights, pixels),
        }
    }

    #[inline(always)]
    fn maxima<V: Simd, const L: usize, const N: usize>(
        _simd: V,
        start: Self,
        pixels: &[[[Self; L]; N]],
    ) -> [[Self; L]; N] {
        match L {
            8 => cast(maxima_of_fours::<N>(start, bytemuck::cast_slice(pixels))),
            _ => portable::maxima(start, pixels),
        }
    }

    /// Optimized for size, the portable loop has no vectors, and took a third of a call.
    #[inline(always)]
    fn add_weighted<const L: usize>(total: &mut [Self; L], weight: Self, pixel: &[Self; L]) {
        if L != 8 {
            return portable::add_weighted(total, weight, pixel);
        }
        let ([total_low, total_high], [low, high]): ([v128; 2], [v128; 2]) = (cast(*total), cast(*pixel));
        let weight = f32x4_splat(weight);
        *total = cast([
            f32x4_add(total_low, f32x4_mul(weight, low)),
            f32x4_add(total_high, f32x4_mul(weight, high)),
        ]);
    }

    #[inline(always)]
    fn keep_larger<const L: usize>(maximum: &mut [Self; L], pixel: &[Self; L]) {
        if L != 8 {
            return portable::keep_larger(maximum, pixel);
        }
        let ([largest_low, largest_high], [low, high]): ([v128; 2], [v128; 2]) = (cast(*maximum), cast(*pixel));
        // `pmax` returns its first operand if one is NaN.
        *maximum = cast([f32x4_pmax(largest_low, low), f32x4_pmax(largest_high, high)]);
    }

    #[inline(always)]
    fn transpose<V: Simd, const L: usize>(_simd: V, square: [[Self; L]; L]) -> [[Self; L]; L] {
        match L {
            8 => cast(transpose_eight(cast(square))),
            _ => portable::transpose(square),
        }
    }
}

#[inline(always)]
fn weighted_sum_of_fours<'a, const V: usize, const N: usize>(
    weights: &[f32],
    pixels: impl Iterator<Item = &'a [[[f32; 4]; V]; N]>,
) -> [[v128; V]; N] {
    let mut totals = [[f32x4_splat(0.0); V]; N];
    for (&weight, pixel) in weights.iter().zip(pixels) {
        let weight = f32x4_splat(weight);
        for (total, vectors) in totals.iter_mut().zip(pixel) {
            for (total, &vector) in total.iter_mut().zip(vectors) {
                *total = f32x4_add(*total, f32x4_mul(weight, cast(vector)));
            }
        }
    }
    totals
}

#[inline(always)]
fn maxima_of_fours<const N: usize>(start: f32, pixels: &[[[[f32; 4]; 2]; N]]) -> [[v128; 2]; N] {
    let mut maxima = [[f32x4_splat(start); 2]; N];
    for pixel in pixels {
        for (maxima, vectors) in maxima.iter_mut().zip(pixel) {
            for (maximum, &vector) in maxima.iter_mut().zip(vectors) {
                // `pmax` returns its first operand if one is NaN.
                *maximum = f32x4_pmax(*maximum, cast(vector));
            }
        }
    }
    maxima
}

/// Transposes a square of eight as four squares of four. Closures took 4 ms of a call of 15:
/// optimized for size, the compiler does not inline them.
#[inline(always)]
fn transpose_eight([a, b, c, d, e, f, g, h]: [[v128; 2]; 8]) -> [[v128; 2]; 8] {
    let [a_0, a_1, a_2, a_3] = transpose_four([a[0], b[0], c[0], d[0]]);
    let [a_4, a_5, a_6, a_7] = transpose_four([a[1], b[1], c[1], d[1]]);
    let [e_0, e_1, e_2, e_3] = transpose_four([e[0], f[0], g[0], h[0]]);
    let [e_4, e_5, e_6, e_7] = transpose_four([e[1], f[1], g[1], h[1]]);
    [
        [a_0, e_0],
        [a_1, e_1],
        [a_2, e_2],
        [a_3, e_3],
        [a_4, e_4],
        [a_5, e_5],
        [a_6, e_6],
        [a_7, e_7],
    ]
}

#[inline(always)]
fn transpose_four([a, b, c, d]: [v128; 4]) -> [v128; 4] {
    let (ab_low, ab_high) = (i32x4_shuffle::<0, 4, 1, 5>(a, b), i32x4_shuffle::<2, 6, 3, 7>(a, b));
    let (cd_low, cd_high) = (i32x4_shuffle::<0, 4, 1, 5>(c, d), i32x4_shuffle::<2, 6, 3, 7>(c, d));
    [
        i32x4_shuffle::<0, 1, 4, 5>(ab_low, cd_low),
        i32x4_shuffle::<2, 3, 6, 7>(ab_low, cd_low),
        i32x4_shuffle::<0, 1, 4, 5>(ab_high, cd_high),
        i32x4_shuffle::<2, 3, 6, 7>(ab_high, cd_high),
    ]
}
