//! Rows of f16 to f32 and back: by AVX-512, sixteen elements an instruction, else by F16C, eight. Without either, a
//! call in f16 took 14 to 19 % longer than in f32 on `mask-p2` and `box-p2` (Intel Xeon, two threads). Rows of fewer
//! than eight elements are converted by the code for any processor.

use std::any::Any;
use std::arch::x86_64::{__m256i, __m512};

use pulp::Simd;
use pulp::core_arch::x86::Avx512f;
use pulp::x86::V4;

use super::{f16c, starts};
use crate::backend::flex::simd::{F16Ops, SimdOps};

/// How many elements an instruction converts.
const WIDTH: usize = 16;

/// The AVX-512 instructions of `simd`. The types are compared at compile time. A build for fuzzing runs [`f16c`], which
/// has `unsafe` blocks.
#[inline(always)]
fn avx512<V: Simd>(simd: V) -> Option<Avx512f> {
    if cfg!(fuzzing) {
        return None;
    }
    let simd: &dyn Any = &simd;
    simd.downcast_ref::<V4>().map(|simd| simd.avx512f)
}

impl F16Ops for f32 {
    /// By way of a converted copy of the rows, box-p2 took a twentieth longer.
    #[inline(always)]
    fn interleave_f16<V: Simd, const L: usize>(simd: V, rows: [&[u16]; L], pixels: &mut [[f32; L]]) -> bool {
        let (Some(avx512), WIDTH.., 8 | 16) = (avx512(simd), pixels.len(), L) else {
            return f16c::interleave(simd, &rows, pixels);
        };
        for start in starts::<WIDTH>(pixels.len()) {
            for (eight, rows) in rows.as_chunks().0.iter().enumerate() {
                let squares = squares_of_eight(avx512, rows, start);
                for (pixels, square) in pixels[start..].chunks_exact_mut(8).zip(squares) {
                    for (pixel, lanes) in pixels.iter_mut().zip(f32::transpose(simd, square)) {
                        pixel[8 * eight..][..8].copy_from_slice(&lanes);
                    }
                }
            }
        }
        true
    }

    #[inline(always)]
    fn narrow_f16<V: Simd>(simd: V, sums: &[f32], row: &mut [u16]) -> bool {
        let count = sums.len().min(row.len());
        let (Some(avx512), WIDTH..) = (avx512(simd), count) else {
            return f16c::narrow(simd, sums, row);
        };
        for start in starts::<WIDTH>(count) {
            let singles: &[f32; WIDTH] = sums[start..].first_chunk().expect("a whole vector");
            let halves = narrow(avx512, bytemuck::cast(*singles));
            *row[start..].first_chunk_mut().expect("a whole vector") = bytemuck::cast::<_, [u16; WIDTH]>(halves);
        }
        true
    }
}

/// Sixteen elements of eight rows, from `start` on, as two squares.
#[inline(always)]
fn squares_of_eight(avx512: Avx512f, rows: &[&[u16]; 8], start: usize) -> [[[f32; 8]; 8]; 2] {
    let mut squares = [[[0.0; 8]; 8]; 2];
    for (lane, row) in rows.iter().enumerate() {
        let halves: &[u16; WIDTH] = row[start..].first_chunk().expect("a whole vector");
        let singles = avx512._mm512_cvtph_ps(bytemuck::cast::<_, __m256i>(*halves));
        let [first, second]: [[f32; 8]; 2] = bytemuck::cast(singles);
        squares[0][lane] = first;
        squares[1][lane] = second;
    }
    squares
}

/// The nearest f16 of sixteen f32, of two the even one. A NaN keeps its sign only, as without AVX-512.
#[inline(always)]
fn narrow(avx512: Avx512f, sums: __m512) -> __m256i {
    /// To the nearest, without a floating-point exception.
    const NEAREST: i32 = 0x08;
    const UNORDERED: i32 = 0x03;
    let nan = avx512._mm512_cmp_ps_mask::<UNORDERED>(sums, sums);
    let bits = avx512._mm512_castps_si512(sums);
    let without_payload = avx512._mm512_set1_epi32(0xFF80_0000_u32.cast_signed());
    let quiet = avx512._mm512_set1_epi32(0x7FC0_0000);
    let bits = avx512._mm512_mask_and_epi32(bits, nan, bits, without_payload);
    let bits = avx512._mm512_mask_or_epi32(bits, nan, bits, quiet);
    avx512._mm512_cvtps_ph::<NEAREST>(avx512._mm512_castsi512_ps(bits))
}
