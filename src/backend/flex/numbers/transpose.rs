//! Interleaves channels, and deinterleaves them: squares of numbers, transposed.

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use std::arch::wasm32::{i32x4_shuffle, v128};
#[cfg(target_arch = "x86_64")]
use std::{any::Any, arch::x86_64::__m256};

use pulp::Simd;
#[cfg(target_arch = "x86_64")]
use pulp::{
    core_arch::x86::Avx,
    x86::{V3, V4},
};

/// A number whose squares can be transposed.
pub trait Transpose: Copy + Default {
    /// Rows become columns, with the vector instructions of `simd`.
    #[inline(always)]
    fn transpose<V: Simd, const L: usize>(_simd: V, square: [[Self; L]; L]) -> [[Self; L]; L] {
        number_by_number(square)
    }
}

impl Transpose for f64 {}

impl Transpose for f32 {
    // Left to itself, the compiler gathers and scatters numbers where the processor has AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn transpose<V: Simd, const L: usize>(simd: V, square: [[f32; L]; L]) -> [[f32; L]; L] {
        if const { has_avx::<V>() && L == 8 } {
            bytemuck::cast(of_eight(avx(simd), bytemuck::cast(square)))
        } else {
            number_by_number(square)
        }
    }

    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    #[inline(always)]
    fn transpose<V: Simd, const L: usize>(_simd: V, square: [[f32; L]; L]) -> [[f32; L]; L] {
        match L {
            8 => bytemuck::cast(of_eight_in_fours(bytemuck::cast(square))),
            _ => number_by_number(square),
        }
    }
}

/// Whether these are AVX instructions: on x86-64, all that have vectors are. It is a constant, so that what it leaves
/// out takes no time to compile.
#[cfg(target_arch = "x86_64")]
pub const fn has_avx<V: Simd>() -> bool {
    !V::IS_SCALAR
}

/// The AVX instructions among those of `simd`, which [`has_avx`] says that it has. Types are compared, which the
/// compiler does.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn avx<V: Simd>(simd: V) -> Avx {
    let simd: &dyn Any = &simd;
    match (simd.downcast_ref::<V4>(), simd.downcast_ref::<V3>()) {
        (Some(simd), _) => simd.avx,
        (_, Some(simd)) => simd.avx,
        _ => unreachable!("vectors without AVX"),
    }
}

#[inline(always)]
fn number_by_number<N: Copy + Default, const L: usize>(square: [[N; L]; L]) -> [[N; L]; L] {
    let mut transposed = [[N::default(); L]; L];
    for (column, row) in square.iter().enumerate() {
        for (transposed, &number) in transposed.iter_mut().zip(row) {
            transposed[column] = number;
        }
    }
    transposed
}

/// Transposes squares of two, of four, and of eight numbers in turn.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn of_eight(avx: Avx, square: [[f32; 8]; 8]) -> [[f32; 8]; 8] {
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

/// Transposes the four squares of four numbers that a square of eight has. Closures took 4 ms of a call of 15:
/// optimized for size, the compiler does not inline them.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline(always)]
fn of_eight_in_fours([a, b, c, d, e, f, g, h]: [[v128; 2]; 8]) -> [[v128; 2]; 8] {
    let [a_0, a_1, a_2, a_3] = of_four([a[0], b[0], c[0], d[0]]);
    let [a_4, a_5, a_6, a_7] = of_four([a[1], b[1], c[1], d[1]]);
    let [e_0, e_1, e_2, e_3] = of_four([e[0], f[0], g[0], h[0]]);
    let [e_4, e_5, e_6, e_7] = of_four([e[1], f[1], g[1], h[1]]);
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

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline(always)]
fn of_four([a, b, c, d]: [v128; 4]) -> [v128; 4] {
    let (ab_low, ab_high) = (i32x4_shuffle::<0, 4, 1, 5>(a, b), i32x4_shuffle::<2, 6, 3, 7>(a, b));
    let (cd_low, cd_high) = (i32x4_shuffle::<0, 4, 1, 5>(c, d), i32x4_shuffle::<2, 6, 3, 7>(c, d));
    [
        i32x4_shuffle::<0, 1, 4, 5>(ab_low, cd_low),
        i32x4_shuffle::<2, 3, 6, 7>(ab_low, cd_low),
        i32x4_shuffle::<0, 1, 4, 5>(ab_high, cd_high),
        i32x4_shuffle::<2, 3, 6, 7>(ab_high, cd_high),
    ]
}

/// Interleaves lanes: a pixel is a number of each.
#[inline(always)]
pub fn interleave<N: Transpose, V: Simd, const L: usize>(simd: V, lanes: [&[N]; L], pixels: &mut [[N; L]]) {
    let (eights, _) = lanes.as_chunks::<8>();
    if pixels.len() < 8 || eights.is_empty() {
        for (lane, numbers) in lanes.iter().enumerate() {
            for (pixel, &number) in pixels.iter_mut().zip(*numbers) {
                pixel[lane] = number;
            }
        }
        return;
    }
    for (eight, lanes) in eights.iter().enumerate() {
        interleave_eight(simd, lanes, 8 * eight, pixels);
    }
}

/// Interleaves eight lanes, as those of at least eight pixels from `first` on.
#[inline(always)]
fn interleave_eight<N: Transpose, V: Simd, const L: usize>(
    simd: V,
    lanes: &[&[N]; 8],
    first: usize,
    pixels: &mut [[N; L]],
) {
    for start in (0..pixels.len()).step_by(8) {
        // The last square ends with the pixels, and may have some that were done.
        let start = start.min(pixels.len() - 8);
        let mut square = [[N::default(); 8]; 8];
        for (row, lane) in square.iter_mut().zip(lanes) {
            row.copy_from_slice(&lane[start..start + 8]);
        }
        for (pixel, lanes) in pixels[start..start + 8].iter_mut().zip(N::transpose(simd, square)) {
            pixel[first..first + 8].copy_from_slice(&lanes);
        }
    }
}

/// Deinterleaves at least one pixel: `output` is one lane after another, of as many as it has room for.
#[inline(always)]
pub fn deinterleave<N: Transpose, V: Simd, const L: usize>(simd: V, pixels: &[[N; L]], output: &mut [N]) {
    let count = pixels.len();
    if count < 8 || L < 8 {
        for (lane, output) in output.chunks_exact_mut(count).enumerate().take(L) {
            for (pixel, output) in pixels.iter().zip(output) {
                *output = pixel[lane];
            }
        }
        return;
    }
    for (eight, output) in output.chunks_mut(8 * count).enumerate().take(L / 8) {
        deinterleave_eight(simd, pixels, 8 * eight, output);
    }
}

/// Deinterleaves eight lanes of at least eight pixels, those from `first` on.
#[inline(always)]
fn deinterleave_eight<N: Transpose, V: Simd, const L: usize>(
    simd: V,
    pixels: &[[N; L]],
    first: usize,
    output: &mut [N],
) {
    for start in (0..pixels.len()).step_by(8) {
        let start = start.min(pixels.len() - 8);
        let mut square = [[N::default(); 8]; 8];
        for (row, pixel) in square.iter_mut().zip(&pixels[start..start + 8]) {
            row.copy_from_slice(&pixel[first..first + 8]);
        }
        let lanes = N::transpose(simd, square);
        for (output, lane) in output.chunks_exact_mut(pixels.len()).zip(&lanes) {
            output[start..start + 8].copy_from_slice(lane);
        }
    }
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, WithSimd};

    use super::*;

    /// Lanes of all lengths, there and back.
    struct RoundTrip<F, const L: usize>(F);

    impl<N, F, const L: usize> WithSimd for RoundTrip<F, L>
    where
        N: Transpose + PartialEq + std::fmt::Debug,
        F: Fn(usize) -> N,
    {
        type Output = ();

        fn with_simd<V: Simd>(self, simd: V) {
            let Self(number) = self;
            for count in 1..40 {
                let lanes: [Vec<N>; L] = std::array::from_fn(|lane| {
                    let numbers = lane * count..(lane + 1) * count;
                    numbers.map(&number).collect()
                });
                let mut pixels = vec![[N::default(); L]; count];
                interleave(simd, lanes.each_ref().map(Vec::as_slice), &mut pixels);
                for (place, pixel) in pixels.iter().enumerate() {
                    for (lane, &value) in pixel.iter().enumerate() {
                        assert_eq!(value, number(lane * count + place));
                    }
                }
                for kept in 1..=L {
                    let mut output = vec![N::default(); kept * count];
                    deinterleave(simd, &pixels, &mut output);
                    assert_eq!(output, lanes[..kept].concat());
                }
            }
        }
    }

    #[test]
    fn lanes_are_interleaved_and_deinterleaved() {
        for arch in [Arch::Scalar, Arch::new()] {
            arch.dispatch(RoundTrip::<_, 8>(|number| number as f32));
            arch.dispatch(RoundTrip::<_, 16>(|number| number as f32));
            arch.dispatch(RoundTrip::<_, 8>(|number| number as f64));
            arch.dispatch(RoundTrip::<_, 1>(|number| number as f32));
        }
    }
}
