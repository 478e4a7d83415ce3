//! Rows of f16 to f32 and back by F16C, eight elements an instruction, on processors without AVX-512.
//!
//! `pulp` has no functions for these instructions. Those here take whole rows: a function for eight elements would be
//! called for each eight, since it can't be inlined where F16C is not enabled.

use std::arch::x86_64::*;

use pulp::Simd;
use pulp::core_arch::x86::{Avx, F16c};

use super::{avx, has_avx, starts, transpose_eight};

/// How many elements an instruction converts.
const WIDTH: usize = 8;

/// Whether rows of `count` elements are converted here.
#[inline(always)]
fn converts<V: Simd>(count: usize) -> bool {
    if const { !has_avx::<V>() } {
        return false;
    }
    count >= WIDTH && F16c::is_available()
}

/// Interleaves rows. Returns whether it did.
#[allow(unsafe_code)]
#[inline(always)]
pub fn interleave<V: Simd, const L: usize>(simd: V, rows: &[&[u16]; L], pixels: &mut [[f32; L]]) -> bool {
    if !matches!(L, 8 | 16) || !converts::<V>(pixels.len()) {
        return false;
    }
    // SAFETY: the processor has AVX, as `V` has, and F16C, by `converts`.
    unsafe { interleave_rows(avx(simd), rows, pixels) };
    true
}

/// Rounds a row to the nearest, of two the even one. Returns whether it did.
#[allow(unsafe_code)]
#[inline(always)]
pub fn narrow<V: Simd>(_simd: V, sums: &[f32], row: &mut [u16]) -> bool {
    if !converts::<V>(sums.len().min(row.len())) {
        return false;
    }
    // SAFETY: the processor has AVX, as `V` has, and F16C, by `converts`.
    unsafe { narrow_row(sums, row) };
    true
}

#[target_feature(enable = "avx,f16c")]
fn interleave_rows<const L: usize>(avx: Avx, rows: &[&[u16]; L], pixels: &mut [[f32; L]]) {
    for start in starts::<WIDTH>(pixels.len()) {
        for (eight, rows) in rows.as_chunks::<8>().0.iter().enumerate() {
            let mut square = [[0.0; WIDTH]; 8];
            for (singles, row) in square.iter_mut().zip(rows) {
                let halves: &[u16; WIDTH] = row[start..].first_chunk().expect("a whole vector");
                *singles = bytemuck::cast(_mm256_cvtph_ps(bytemuck::cast(*halves)));
            }
            for (pixel, lanes) in pixels[start..].iter_mut().zip(transpose_eight(avx, square)) {
                pixel[8 * eight..][..8].copy_from_slice(&lanes);
            }
        }
    }
}

/// The last vector ends with the row, and may have some elements that were rounded already.
#[target_feature(enable = "avx,f16c")]
fn narrow_row(sums: &[f32], row: &mut [u16]) {
    let count = sums.len().min(row.len());
    let (sums, row) = (&sums[..count], &mut row[..count]);
    for (sums, halves) in sums.as_chunks().0.iter().zip(row.as_chunks_mut().0) {
        narrow_vector(sums, halves);
    }
    if let (Some(sums), Some(halves)) = (sums.last_chunk(), row.last_chunk_mut()) {
        narrow_vector(sums, halves);
    }
}

/// A NaN keeps its sign only, as without these instructions.
#[inline]
#[target_feature(enable = "avx,f16c")]
fn narrow_vector(sums: &[f32; WIDTH], halves: &mut [u16; WIDTH]) {
    let mut singles: __m256 = bytemuck::cast(*sums);
    let nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(singles, singles);
    if _mm256_movemask_ps(nan) != 0 {
        let sign = _mm256_and_ps(singles, _mm256_set1_ps(-0.0));
        let quiet = _mm256_or_ps(sign, _mm256_set1_ps(f32::from_bits(0x7FC0_0000)));
        singles = _mm256_blendv_ps(singles, quiet, nan);
    }
    *halves = bytemuck::cast(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(singles));
}
