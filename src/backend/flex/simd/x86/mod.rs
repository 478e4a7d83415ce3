//! AVX2, F16C and AVX-512 of x86-64.

use std::any::Any;
use std::arch::x86_64::{__m256, __m256d, _MM_HINT_T0};

use pulp::core_arch::x86::{Avx, Sse};
use pulp::x86::{V3, V4};
use pulp::{Arch, Scalar, Simd, WithSimd};

use super::{SimdOps, portable};

mod f16;
mod f16c;
mod stream;

pub use stream::{Stream, last_cache};

/// Whether `pulp` knows vector instructions that these processors usually have.
pub const HAS_VECTORS: bool = true;

/// Whether kernels are compiled for more lanes too.
pub const HAS_MORE_LANES: bool = true;

/// Computes a gradient with the processor's vector instructions. Gradients in f64 are not compiled for AVX-512: on an
/// Intel Xeon those of box-p2, c4-adaptive and vgg-roi-pool were as fast with AVX2.
pub fn dispatch_gradient<S, Op: WithSimd>(gradient: Op) -> Op::Output {
    if const { size_of::<S>() == size_of::<f64>() } {
        return match Arch::new() {
            Arch::V4(simd) => Simd::vectorize(*simd, gradient),
            Arch::V3(simd) => Simd::vectorize(simd, gradient),
            _ => Simd::vectorize(Scalar::new(), gradient),
        };
    }
    Arch::new().dispatch(gradient)
}

/// Fetches elements into the nearest cache without waiting for them. Of more than 1 KiB it fetches the first: the
/// processor foresees those that follow.
#[inline(always)]
pub fn prefetch<E>(elements: &[E]) {
    let Some(sse) = Sse::try_new() else {
        return;
    };
    for line in elements.chunks((64 / size_of::<E>()).max(1)).take(16) {
        sse._mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
    }
}

impl SimdOps for f64 {
    #[inline(always)]
    fn maxima<V: Simd, const L: usize, const N: usize>(
        simd: V,
        start: Self,
        pixels: &[[[Self; L]; N]],
    ) -> [[Self; L]; N] {
        if const { has_avx::<V>() && L == 8 } {
            return bytemuck::cast(maxima_of_pairs::<N>(avx(simd), start, bytemuck::cast_slice(pixels)));
        }
        portable::maxima(start, pixels)
    }
}

impl SimdOps for f32 {
    #[inline(always)]
    fn weighted_sum<'a, V: Simd, const L: usize, const N: usize>(
        simd: V,
        weights: &[Self],
        pixels: impl Iterator<Item = &'a [[Self; L]; N]> + Clone,
    ) -> [[Self; L]; N] {
        if const { has_avx::<V>() && L == 8 } {
            let pixels = pixels.map(bytemuck::cast_ref::<_, [[[f32; 8]; 1]; N]>);
            return bytemuck::cast(weighted_sum_of_vectors(avx(simd), weights, pixels));
        } else if const { has_avx::<V>() && L == 16 } {
            let pixels = pixels.map(bytemuck::cast_ref::<_, [[[f32; 8]; 2]; N]>);
            return bytemuck::cast(weighted_sum_of_vectors(avx(simd), weights, pixels));
        }
        portable::weighted_sum(weights, pixels)
    }

    #[inline(always)]
    fn maxima<V: Simd, const L: usize, const N: usize>(
        simd: V,
        start: Self,
        pixels: &[[[Self; L]; N]],
    ) -> [[Self; L]; N] {
        if const { has_avx::<V>() && L == 8 } {
            let pixels = bytemuck::cast_slice(pixels);
            return bytemuck::cast(maxima_of_vectors::<1, N>(avx(simd), start, pixels));
        } else if const { has_avx::<V>() && L == 16 } {
            let pixels = bytemuck::cast_slice(pixels);
            return bytemuck::cast(maxima_of_vectors::<2, N>(avx(simd), start, pixels));
        }
        portable::maxima(start, pixels)
    }

    // Left to itself, the compiler adds eight pixels at a time, and the last seven or fewer number by number. That took
    // 14 % of box-p2's gradient.
    #[inline(always)]
    fn add_weighted_row<V: Simd, const L: usize>(simd: V, sums: &mut [[f32; L]], weight: f32, pixels: &[[f32; L]]) {
        if const { has_avx::<V>() && L == 8 } {
            let (sums, pixels) = (bytemuck::cast_slice_mut(sums), bytemuck::cast_slice(pixels));
            return add_weighted_vectors(avx(simd), sums, weight, pixels);
        }
        portable::add_weighted_row(sums, weight, pixels);
    }

    // Left to itself, the compiler gathers and scatters elements where the processor has AVX-512.
    #[inline(always)]
    fn transpose<V: Simd, const L: usize>(simd: V, square: [[f32; L]; L]) -> [[f32; L]; L] {
        if const { has_avx::<V>() && L == 8 } {
            bytemuck::cast(transpose_eight(avx(simd), bytemuck::cast(square)))
        } else {
            portable::transpose(square)
        }
    }
}

#[inline(always)]
fn weighted_sum_of_vectors<'a, const V: usize, const N: usize>(
    avx: Avx,
    weights: &[f32],
    pixels: impl Iterator<Item = &'a [[[f32; 8]; V]; N]>,
) -> [[__m256; V]; N] {
    let mut totals = [[avx._mm256_setzero_ps(); V]; N];
    for (&weight, pixel) in weights.iter().zip(pixels) {
        let weight = avx._mm256_set1_ps(weight);
        for (total, vectors) in totals.iter_mut().zip(pixel) {
            for (total, &vector) in total.iter_mut().zip(vectors) {
                *total = avx._mm256_add_ps(*total, avx._mm256_mul_ps(weight, bytemuck::cast(vector)));
            }
        }
    }
    totals
}

#[inline(always)]
fn add_weighted_vectors(avx: Avx, sums: &mut [[f32; 8]], weight: f32, vectors: &[[f32; 8]]) {
    let weight = avx._mm256_set1_ps(weight);
    for (sum, &vector) in sums.iter_mut().zip(vectors) {
        let weighted = avx._mm256_mul_ps(weight, bytemuck::cast(vector));
        *sum = bytemuck::cast(avx._mm256_add_ps(bytemuck::cast(*sum), weighted));
    }
}

#[inline(always)]
fn maxima_of_vectors<const V: usize, const N: usize>(
    avx: Avx,
    start: f32,
    pixels: &[[[[f32; 8]; V]; N]],
) -> [[__m256; V]; N] {
    let mut maxima = [[avx._mm256_set1_ps(start); V]; N];
    for pixel in pixels {
        for (maxima, vectors) in maxima.iter_mut().zip(pixel) {
            for (maximum, &vector) in maxima.iter_mut().zip(vectors) {
                // `max` returns its second operand if one is NaN.
                *maximum = avx._mm256_max_ps(bytemuck::cast(vector), *maximum);
            }
        }
    }
    maxima
}

#[inline(always)]
fn maxima_of_pairs<const N: usize>(avx: Avx, start: f64, pixels: &[[[[f64; 4]; 2]; N]]) -> [[__m256d; 2]; N] {
    let mut maxima = [[avx._mm256_set1_pd(start); 2]; N];
    for pixel in pixels {
        for (maxima, vectors) in maxima.iter_mut().zip(pixel) {
            for (maximum, &vector) in maxima.iter_mut().zip(vectors) {
                // `max` returns its second operand if one is NaN.
                *maximum = avx._mm256_max_pd(bytemuck::cast(vector), *maximum);
            }
        }
    }
    maxima
}

/// Whether `V` has AVX: on x86-64 every `Simd` with vectors has. It is a constant, so that code that it excludes is not
/// compiled.
const fn has_avx<V: Simd>() -> bool {
    !V::IS_SCALAR
}

/// The AVX instructions of `simd`, if [`has_avx`]. The types are compared at compile time.
#[inline(always)]
fn avx<V: Simd>(simd: V) -> Avx {
    let simd: &dyn Any = &simd;
    match (simd.downcast_ref::<V4>(), simd.downcast_ref::<V3>()) {
        (Some(simd), _) => simd.avx,
        (_, Some(simd)) => simd.avx,
        _ => unreachable!("vectors without AVX"),
    }
}

/// Where the vectors of a row begin. The last one ends with the row, and may have some elements that were converted
/// already.
#[inline(always)]
fn starts<const WIDTH: usize>(count: usize) -> impl Iterator<Item = usize> {
    let last = count - WIDTH;
    (0..count).step_by(WIDTH).map(move |start| start.min(last))
}

/// Transposes squares of 2, of 4 and of 8 elements in turn.
#[inline(always)]
fn transpose_eight(avx: Avx, square: [[f32; 8]; 8]) -> [[f32; 8]; 8] {
    let [a, b, c, d, e, f, g, h]: [__m256; 8] = bytemuck::cast(square);

    let (ab_low, ab_high) = (avx._mm256_unpacklo_ps(a, b), avx._mm256_unpackhi_ps(a, b));
    let (cd_low, cd_high) = (avx._mm256_unpacklo_ps(c, d), avx._mm256_unpackhi_ps(c, d));
    let (ef_low, ef_high) = (avx._mm256_unpacklo_ps(e, f), avx._mm256_unpackhi_ps(e, f));
    let (gh_low, gh_high) = (avx._mm256_unpacklo_ps(g, h), avx._mm256_unpackhi_ps(g, h));

    // The lower two of both, and the upper two.
    const LOWER: i32 = 0b01_00_01_00;
    const UPPER: i32 = 0b11_10_11_10;
    let abcd_0 = avx._mm256_shuffle_ps::<LOWER>(ab_low, cd_low);
    let abcd_1 = avx._mm256_shuffle_ps::<UPPER>(ab_low, cd_low);
    let abcd_2 = avx._mm256_shuffle_ps::<LOWER>(ab_high, cd_high);
    let abcd_3 = avx._mm256_shuffle_ps::<UPPER>(ab_high, cd_high);
    let efgh_0 = avx._mm256_shuffle_ps::<LOWER>(ef_low, gh_low);
    let efgh_1 = avx._mm256_shuffle_ps::<UPPER>(ef_low, gh_low);
    let efgh_2 = avx._mm256_shuffle_ps::<LOWER>(ef_high, gh_high);
    let efgh_3 = avx._mm256_shuffle_ps::<UPPER>(ef_high, gh_high);

    // The lower halves of both, and the upper ones.
    const LOWER_HALVES: i32 = 0x20;
    const UPPER_HALVES: i32 = 0x31;
    bytemuck::cast([
        avx._mm256_permute2f128_ps::<LOWER_HALVES>(abcd_0, efgh_0),
        avx._mm256_permute2f128_ps::<LOWER_HALVES>(abcd_1, efgh_1),
        avx._mm256_permute2f128_ps::<LOWER_HALVES>(abcd_2, efgh_2),
        avx._mm256_permute2f128_ps::<LOWER_HALVES>(abcd_3, efgh_3),
        avx._mm256_permute2f128_ps::<UPPER_HALVES>(abcd_0, efgh_0),
        avx._mm256_permute2f128_ps::<UPPER_HALVES>(abcd_1, efgh_1),
        avx._mm256_permute2f128_ps::<UPPER_HALVES>(abcd_2, efgh_2),
        avx._mm256_permute2f128_ps::<UPPER_HALVES>(abcd_3, efgh_3),
    ])
}
