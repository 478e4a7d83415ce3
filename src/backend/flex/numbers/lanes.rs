//! Sums and maxima of interleaved channels, by the processor's vectors.

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use std::arch::wasm32::{f32x4_add, f32x4_mul, f32x4_pmax, f32x4_splat, v128};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256, __m256d};

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use bytemuck::cast;
use pulp::{Arch, Simd, WithSimd};
#[cfg(target_arch = "x86_64")]
use pulp::{Scalar, core_arch::x86::Avx};

use super::Sum;
#[cfg(target_arch = "x86_64")]
use super::transpose::{avx, has_avx};

/// Whether kernels compute several channels at a time with these instructions. Where other instructions are the usual
/// ones, those without vectors compute one channel at a time, so that there is less to compile.
pub const fn has_lanes<V: Simd>() -> bool {
    !V::IS_SCALAR || !cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
}

/// Computes a gradient with whatever vector instructions the processor has. Gradients in f64 are not compiled for
/// AVX-512: on an Intel Xeon those of box-p2, c4-adaptive and vgg-roi-pool were as fast with AVX2.
pub fn dispatch_gradient<S, Op: WithSimd>(gradient: Op) -> Op::Output {
    #[cfg(target_arch = "x86_64")]
    if const { size_of::<S>() == size_of::<f64>() } {
        return match Arch::new() {
            Arch::V4(simd) => Simd::vectorize(*simd, gradient),
            Arch::V3(simd) => Simd::vectorize(simd, gradient),
            _ => Simd::vectorize(Scalar::new(), gradient),
        };
    }
    Arch::new().dispatch(gradient)
}

/// A number of which `L` channels are interleaved. A wide pixel is such channels in `N` rows.
pub trait Lanes: Copy {
    /// The sum of wide pixels times their weights, from the first to the last.
    fn weighted_sum<'a, V: Simd, const L: usize, const N: usize>(
        simd: V,
        weights: &[Self],
        pixels: impl Iterator<Item = &'a [[Self; L]; N]> + Clone,
    ) -> [[Self; L]; N]
    where
        Self: 'a;

    /// The maxima of wide pixels, and of `start`. NaN is ignored.
    fn maxima<V: Simd, const L: usize, const N: usize>(
        simd: V,
        start: Self,
        pixels: &[[[Self; L]; N]],
    ) -> [[Self; L]; N];

    /// Adds a weighted pixel to a sum.
    fn add_weighted<const L: usize>(total: &mut [Self; L], weight: Self, pixel: &[Self; L]);

    /// Takes the larger of two pixels in each channel; numbers that are none don't count.
    fn keep_larger<const L: usize>(maximum: &mut [Self; L], pixel: &[Self; L]);
}

impl Lanes for f64 {
    #[inline(always)]
    fn weighted_sum<'a, V: Simd, const L: usize, const N: usize>(
        _simd: V,
        weights: &[Self],
        pixels: impl Iterator<Item = &'a [[Self; L]; N]> + Clone,
    ) -> [[Self; L]; N] {
        weighted_sum(weights, pixels)
    }

    #[inline(always)]
    fn maxima<V: Simd, const L: usize, const N: usize>(
        _simd: V,
        start: Self,
        pixels: &[[[Self; L]; N]],
    ) -> [[Self; L]; N] {
        #[cfg(target_arch = "x86_64")]
        if const { has_avx::<V>() && L == 8 } {
            return bytemuck::cast(maxima_of_pairs::<N>(avx(_simd), start, bytemuck::cast_slice(pixels)));
        }
        maxima(start, pixels)
    }

    #[inline(always)]
    fn add_weighted<const L: usize>(total: &mut [Self; L], weight: Self, pixel: &[Self; L]) {
        add_weighted(total, weight, pixel);
    }

    #[inline(always)]
    fn keep_larger<const L: usize>(maximum: &mut [Self; L], pixel: &[Self; L]) {
        keep_larger(maximum, pixel);
    }
}

impl Lanes for f32 {
    #[inline(always)]
    fn weighted_sum<'a, V: Simd, const L: usize, const N: usize>(
        _simd: V,
        weights: &[Self],
        pixels: impl Iterator<Item = &'a [[Self; L]; N]> + Clone,
    ) -> [[Self; L]; N] {
        #[cfg(target_arch = "x86_64")]
        if const { has_avx::<V>() && L == 8 } {
            let pixels = pixels.map(bytemuck::cast_ref::<_, [[[f32; 8]; 1]; N]>);
            return bytemuck::cast(weighted_sum_of_vectors(avx(_simd), weights, pixels));
        } else if const { has_avx::<V>() && L == 16 } {
            let pixels = pixels.map(bytemuck::cast_ref::<_, [[[f32; 8]; 2]; N]>);
            return bytemuck::cast(weighted_sum_of_vectors(avx(_simd), weights, pixels));
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        match L {
            8 => {
                let pixels = pixels.map(bytemuck::cast_ref::<_, [[[f32; 4]; 2]; N]>);
                return bytemuck::cast(weighted_sum_of_fours(weights, pixels));
            }
            16 => {
                let pixels = pixels.map(bytemuck::cast_ref::<_, [[[f32; 4]; 4]; N]>);
                return bytemuck::cast(weighted_sum_of_fours(weights, pixels));
            }
            _ => {}
        }
        weighted_sum(weights, pixels)
    }

    #[inline(always)]
    fn maxima<V: Simd, const L: usize, const N: usize>(
        _simd: V,
        start: Self,
        pixels: &[[[Self; L]; N]],
    ) -> [[Self; L]; N] {
        #[cfg(target_arch = "x86_64")]
        if const { has_avx::<V>() && L == 8 } {
            return bytemuck::cast(maxima_of_vectors::<1, N>(
                avx(_simd),
                start,
                bytemuck::cast_slice(pixels),
            ));
        } else if const { has_avx::<V>() && L == 16 } {
            return bytemuck::cast(maxima_of_vectors::<2, N>(
                avx(_simd),
                start,
                bytemuck::cast_slice(pixels),
            ));
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        if L == 8 {
            return bytemuck::cast(maxima_of_fours::<N>(start, bytemuck::cast_slice(pixels)));
        }
        maxima(start, pixels)
    }

    #[inline(always)]
    fn add_weighted<const L: usize>(total: &mut [Self; L], weight: Self, pixel: &[Self; L]) {
        // Optimized for size, the loop over numbers stays one of numbers, and took a third of a call.
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        if L == 8 {
            let ([total_low, total_high], [low, high]): ([v128; 2], [v128; 2]) = (cast(*total), cast(*pixel));
            let weight = f32x4_splat(weight);
            *total = cast([
                f32x4_add(total_low, f32x4_mul(weight, low)),
                f32x4_add(total_high, f32x4_mul(weight, high)),
            ]);
            return;
        }
        add_weighted(total, weight, pixel);
    }

    #[inline(always)]
    fn keep_larger<const L: usize>(maximum: &mut [Self; L], pixel: &[Self; L]) {
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        if L == 8 {
            let ([largest_low, largest_high], [low, high]): ([v128; 2], [v128; 2]) = (cast(*maximum), cast(*pixel));
            // The first operand where the second is not a number.
            *maximum = cast([f32x4_pmax(largest_low, low), f32x4_pmax(largest_high, high)]);
            return;
        }
        keep_larger(maximum, pixel);
    }
}

// Row after row: of several rows at once the compiler makes no vectors.
#[inline(always)]
fn weighted_sum<'a, S: Sum, const L: usize, const N: usize>(
    weights: &[S],
    pixels: impl Iterator<Item = &'a [[S; L]; N]> + Clone,
) -> [[S; L]; N] {
    let mut totals = [[S::default(); L]; N];
    for (row, total) in totals.iter_mut().enumerate() {
        let mut sum = [S::default(); L];
        for (&weight, pixel) in weights.iter().zip(pixels.clone()) {
            for (sum, &number) in sum.iter_mut().zip(&pixel[row]) {
                *sum += weight * number;
            }
        }
        *total = sum;
    }
    totals
}

#[inline(always)]
fn add_weighted<S: Sum, const L: usize>(total: &mut [S; L], weight: S, pixel: &[S; L]) {
    for (total, &number) in total.iter_mut().zip(pixel) {
        *total += weight * number;
    }
}

#[inline(always)]
fn keep_larger<S: Sum, const L: usize>(maximum: &mut [S; L], pixel: &[S; L]) {
    for (maximum, &number) in maximum.iter_mut().zip(pixel) {
        *maximum = maximum.larger(number);
    }
}

#[inline(always)]
fn maxima<S: Sum, const L: usize, const N: usize>(start: S, pixels: &[[[S; L]; N]]) -> [[S; L]; N] {
    let mut maxima = [[start; L]; N];
    for (row, maximum) in maxima.iter_mut().enumerate() {
        let mut largest = [start; L];
        for pixel in pixels {
            for (largest, &number) in largest.iter_mut().zip(&pixel[row]) {
                *largest = largest.larger(number);
            }
        }
        *maximum = largest;
    }
    maxima
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn weighted_sum_of_vectors<'a, const V: usize, const N: usize>(
    avx: Avx,
    weights: &[f32],
    pixels: impl Iterator<Item = &'a [[[f32; 8]; V]; N]>,
) -> [[__m256; V]; N] {
    let mut totals = [[avx._mm256_setzero_ps(); V]; N];
    for (&weight, pixel) in weights.iter().zip(pixels) {
        let weight = avx._mm256_set1_ps(weight);
        for (total, numbers) in totals.iter_mut().zip(pixel) {
            for (total, &numbers) in total.iter_mut().zip(numbers) {
                *total = avx._mm256_add_ps(*total, avx._mm256_mul_ps(weight, bytemuck::cast(numbers)));
            }
        }
    }
    totals
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn maxima_of_vectors<const V: usize, const N: usize>(
    avx: Avx,
    start: f32,
    pixels: &[[[[f32; 8]; V]; N]],
) -> [[__m256; V]; N] {
    let mut maxima = [[avx._mm256_set1_ps(start); V]; N];
    for pixel in pixels {
        for (maxima, numbers) in maxima.iter_mut().zip(pixel) {
            for (maximum, &numbers) in maxima.iter_mut().zip(numbers) {
                // The second operand where the first is not a number.
                *maximum = avx._mm256_max_ps(bytemuck::cast(numbers), *maximum);
            }
        }
    }
    maxima
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn maxima_of_pairs<const N: usize>(avx: Avx, start: f64, pixels: &[[[[f64; 4]; 2]; N]]) -> [[__m256d; 2]; N] {
    let mut maxima = [[avx._mm256_set1_pd(start); 2]; N];
    for pixel in pixels {
        for (maxima, numbers) in maxima.iter_mut().zip(pixel) {
            for (maximum, &numbers) in maxima.iter_mut().zip(numbers) {
                // The second operand where the first is not a number.
                *maximum = avx._mm256_max_pd(bytemuck::cast(numbers), *maximum);
            }
        }
    }
    maxima
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline(always)]
fn weighted_sum_of_fours<'a, const V: usize, const N: usize>(
    weights: &[f32],
    pixels: impl Iterator<Item = &'a [[[f32; 4]; V]; N]>,
) -> [[v128; V]; N] {
    let mut totals = [[f32x4_splat(0.0); V]; N];
    for (&weight, pixel) in weights.iter().zip(pixels) {
        let weight = f32x4_splat(weight);
        for (total, numbers) in totals.iter_mut().zip(pixel) {
            for (total, &numbers) in total.iter_mut().zip(numbers) {
                *total = f32x4_add(*total, f32x4_mul(weight, bytemuck::cast(numbers)));
            }
        }
    }
    totals
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline(always)]
fn maxima_of_fours<const N: usize>(start: f32, pixels: &[[[[f32; 4]; 2]; N]]) -> [[v128; 2]; N] {
    let mut maxima = [[f32x4_splat(start); 2]; N];
    for pixel in pixels {
        for (maxima, numbers) in maxima.iter_mut().zip(pixel) {
            for (maximum, &numbers) in maxima.iter_mut().zip(numbers) {
                // The first operand where the second is not a number.
                *maximum = f32x4_pmax(*maximum, bytemuck::cast(numbers));
            }
        }
    }
    maxima
}
