//! Rows of f16 to f32 and back, sixteen numbers an instruction. Without these instructions a call in f16 took 14 to
//! 19 % longer than in f32 on `mask-p2` and `box-p2` (Intel Xeon, two threads).

use std::any::Any;
use std::arch::x86_64::{__m256i, __m512};

use pulp::Simd;
use pulp::core_arch::x86::Avx512f;
use pulp::x86::V4;

use super::transpose::Transpose;

/// How many numbers an instruction converts.
const NUMBERS: usize = 16;

/// The AVX-512 instructions among those of `simd`. Types are compared, which the compiler does.
#[inline(always)]
fn avx512<V: Simd>(simd: V) -> Option<Avx512f> {
    let simd: &dyn Any = &simd;
    simd.downcast_ref::<V4>().map(|simd| simd.avx512f)
}

/// Converts a row, if there are these instructions and the row is at least one vector long. Returns whether it did.
#[inline(always)]
pub fn widen_f16<V: Simd>(simd: V, row: &[u16], wide: &mut [f32]) -> bool {
    let count = row.len().min(wide.len());
    let (Some(avx512), NUMBERS..) = (avx512(simd), count) else {
        return false;
    };
    for start in starts(count) {
        let halves: &[u16; NUMBERS] = row[start..].first_chunk().expect("a whole vector");
        let numbers = avx512._mm512_cvtph_ps(bytemuck::cast::<_, __m256i>(*halves));
        *wide[start..].first_chunk_mut().expect("a whole vector") = bytemuck::cast::<_, [f32; NUMBERS]>(numbers);
    }
    true
}

/// Interleaves eight rows, or sixteen, as they are converted, if there are these instructions and the rows are at least
/// one vector long. Returns whether it did. By way of a converted copy of the rows, box-p2 took a twentieth longer.
#[inline(always)]
pub fn interleave_f16<V: Simd, const L: usize>(simd: V, rows: [&[u16]; L], pixels: &mut [[f32; L]]) -> bool {
    let (Some(avx512), NUMBERS.., 8 | 16) = (avx512(simd), pixels.len(), L) else {
        return false;
    };
    for start in starts(pixels.len()) {
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

/// Sixteen numbers of eight rows, from `start` on, as two squares.
#[inline(always)]
fn squares_of_eight(avx512: Avx512f, rows: &[&[u16]; 8], start: usize) -> [[[f32; 8]; 8]; 2] {
    let mut squares = [[[0.0; 8]; 8]; 2];
    for (lane, row) in rows.iter().enumerate() {
        let halves: &[u16; NUMBERS] = row[start..].first_chunk().expect("a whole vector");
        let numbers = avx512._mm512_cvtph_ps(bytemuck::cast::<_, __m256i>(*halves));
        let [first, second]: [[f32; 8]; 2] = bytemuck::cast(numbers);
        squares[0][lane] = first;
        squares[1][lane] = second;
    }
    squares
}

/// Converts a row, if there are these instructions and the row is at least one vector long. Returns whether it did.
#[inline(always)]
pub fn narrow_f16<V: Simd>(simd: V, sums: &[f32], row: &mut [u16]) -> bool {
    let count = sums.len().min(row.len());
    let (Some(avx512), NUMBERS..) = (avx512(simd), count) else {
        return false;
    };
    for start in starts(count) {
        let numbers: &[f32; NUMBERS] = sums[start..].first_chunk().expect("a whole vector");
        let halves = narrow(avx512, bytemuck::cast(*numbers));
        *row[start..].first_chunk_mut().expect("a whole vector") = bytemuck::cast::<_, [u16; NUMBERS]>(halves);
    }
    true
}

/// Where the vectors of a row begin. The last one ends with the row, and may have some numbers that were done.
#[inline(always)]
fn starts(count: usize) -> impl Iterator<Item = usize> {
    let last = count - NUMBERS;
    (0..count).step_by(NUMBERS).map(move |start| start.min(last))
}

/// The nearest f16 of sixteen numbers, of two the even one. A NaN keeps its sign alone, as without these instructions.
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
