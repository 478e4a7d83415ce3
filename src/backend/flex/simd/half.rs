//! Elements of 16 bits to f32 and back. The loops have no branches, so that LLVM vectorizes them for any processor: the
//! conversions of the `half` crate, eight elements a call, took a third of the time of an f16 kernel.

use burn::tensor::{bf16, f16};
use pulp::Simd;

use super::{F16Ops, Widen, interleave};

impl Widen<f32> for f16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f16_to_f32(self.to_bits())
    }
}

impl Widen<f32> for bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        bf16_to_f32(self.to_bits())
    }
}

/// Interleaves rows of f16 as f32.
#[inline(always)]
pub fn interleave_f16<V: Simd, const L: usize>(simd: V, rows: [&[u16]; L], pixels: &mut [[f32; L]]) {
    if !f32::interleave_f16(simd, rows, pixels) {
        interleave(simd, rows.map(bytemuck::cast_slice::<_, f16>), pixels);
    }
}

/// Interleaves rows of bf16 as f32.
#[inline(always)]
pub fn interleave_bf16<V: Simd, const L: usize>(simd: V, rows: [&[u16]; L], pixels: &mut [[f32; L]]) {
    interleave(simd, rows.map(bytemuck::cast_slice::<_, bf16>), pixels);
}

/// A row of f32 as the bits of the nearest f16, of two the even one.
#[inline(always)]
pub fn narrow_f16<V: Simd>(simd: V, sums: &[f32], row: &mut [u16]) {
    if f32::narrow_f16(simd, sums, row) {
        return;
    }
    for (bits, &sum) in row.iter_mut().zip(sums) {
        *bits = f32_to_f16(sum);
    }
}

/// A row of f32 as the bits of the nearest bf16, of two the even one.
#[inline(always)]
pub fn narrow_bf16<V: Simd>(_simd: V, sums: &[f32], row: &mut [u16]) {
    for (bits, &sum) in row.iter_mut().zip(sums) {
        *bits = f32_to_bf16(sum);
    }
}

/// The bits of an f16 as an f32, exactly.
#[inline(always)]
fn f16_to_f32(bits: u16) -> f32 {
    /// Moves an exponent from the bias of f16 to the bias of f32, for subnormals too.
    const SCALE: f32 = f32::from_bits((127 + 127 - 15) << 23);
    let magnitude = u32::from(bits & 0x7FFF) << 13;
    let sign = u32::from(bits & 0x8000) << 16;
    // Infinities and NaN have the largest exponent in both.
    let special = if bits & 0x7C00 == 0x7C00 { 0x7F80_0000 } else { 0 };
    let scaled = (f32::from_bits(magnitude) * SCALE).to_bits();
    f32::from_bits(scaled | special | sign)
}

/// An f32 as the bits of the nearest f16, of two the even one.
#[inline(always)]
fn f32_to_f16(number: f32) -> u16 {
    /// From here on it is infinite in f16.
    const INFINITE: u32 = (127 + 16) << 23;
    /// Below this it is subnormal in f16.
    const SUBNORMAL: u32 = (127 - 14) << 23;
    /// A sum with this has the last place of a subnormal f16, so the addition rounds.
    const ROUNDER: u32 = (127 - 15 + 23 - 10 + 1) << 23;
    let bits = number.to_bits();
    let magnitude = bits & 0x7FFF_FFFF;
    let odd = (magnitude >> 13) & 1;
    let rebiased = magnitude.wrapping_sub((127 - 15) << 23);
    let normal = rebiased.wrapping_add(0xFFF + odd) >> 13;
    let sum = f32::from_bits(magnitude) + f32::from_bits(ROUNDER);
    let subnormal = sum.to_bits().wrapping_sub(ROUNDER);
    let mut rounded = if magnitude < SUBNORMAL { subnormal } else { normal };
    if magnitude >= INFINITE {
        rounded = 0x7C00;
    }
    if magnitude > 0x7F80_0000 {
        rounded = 0x7E00;
    }
    (rounded | (bits >> 16 & 0x8000)) as u16
}

/// The bits of a bf16 as an f32, exactly.
#[inline(always)]
fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// An f32 as the bits of the nearest bf16, of two the even one.
#[inline(always)]
fn f32_to_bf16(number: f32) -> u16 {
    let bits = number.to_bits();
    let odd = (bits >> 16) & 1;
    let mut rounded = bits.wrapping_add(0x7FFF + odd);
    if bits & 0x7FFF_FFFF > 0x7F80_0000 {
        // A NaN whose bits are all lower ones would become an infinity.
        rounded = bits | 0x40_0000;
    }
    (rounded >> 16) as u16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulp::WithSimd;

    use super::*;
    use crate::backend::flex::simd::archs;

    /// Numbers of f32 as a row of f16.
    struct Narrow<'a>(&'a [f32]);

    impl WithSimd for Narrow<'_> {
        type Output = Vec<u16>;

        fn with_simd<V: Simd>(self, simd: V) -> Self::Output {
            let mut row = vec![0; self.0.len()];
            narrow_f16(simd, self.0, &mut row);
            row
        }
    }

    /// Rows of f16, interleaved, and the same bits as bf16.
    struct Interleave<'a, const L: usize>([&'a [u16]; L]);

    impl<const L: usize> WithSimd for Interleave<'_, L> {
        type Output = [Vec<[f32; L]>; 2];

        fn with_simd<V: Simd>(self, simd: V) -> Self::Output {
            let [mut halves, mut brains] = [0, 1].map(|_| vec![[0.0; L]; self.0[0].len()]);
            interleave_f16(simd, self.0, &mut halves);
            interleave_bf16(simd, self.0, &mut brains);
            [halves, brains]
        }
    }

    fn interleaves_each_element<const L: usize>(elements: &[u16]) {
        let rows = std::array::from_fn(|lane| &elements[lane * (elements.len() / L)..][..elements.len() / L]);
        for arch in archs() {
            let [halves, brains] = arch.dispatch(Interleave::<L>(rows));
            for (index, (half, brain)) in halves.into_iter().zip(brains).enumerate() {
                for (lane, row) in rows.iter().enumerate() {
                    let same =
                        |wide: f32, single: f32| wide.to_bits() == single.to_bits() || wide.is_nan() && single.is_nan();
                    assert!(same(half[lane], f16_to_f32(row[index])), "{:x} by {arch:?}", row[index]);
                    assert!(
                        same(brain[lane], bf16_to_f32(row[index])),
                        "{:x} by {arch:?}",
                        row[index]
                    );
                }
            }
        }
    }

    #[test]
    fn rows_are_interleaved() {
        let all: Vec<u16> = (0..=u16::MAX).collect();
        interleaves_each_element::<1>(&all);
        interleaves_each_element::<8>(&all);
        interleaves_each_element::<16>(&all);
        for count in 0..70 {
            interleaves_each_element::<8>(&all[15_000..15_000 + 8 * count]);
            interleaves_each_element::<16>(&all[15_000..15_000 + 16 * count]);
        }
    }

    fn rows_are_numbers_one_by_one(numbers: &[f32]) {
        for arch in archs() {
            for (number, narrow) in numbers.iter().zip(arch.dispatch(Narrow(numbers))) {
                assert_eq!(
                    narrow,
                    f32_to_f16(*number),
                    "{number:e}, {:x} by {arch:?}",
                    number.to_bits()
                );
            }
        }
    }

    #[test]
    fn every_half_widens_as_it_should_and_comes_back() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            if half.is_nan() {
                assert!(f16_to_f32(bits).is_nan());
            } else {
                assert_eq!(f16_to_f32(bits).to_bits(), half.to_f32().to_bits());
                assert_eq!(f32_to_f16(f16_to_f32(bits)), bits);
            }
            if brain.is_nan() {
                assert!(bf16_to_f32(bits).is_nan());
            } else {
                assert_eq!(bf16_to_f32(bits).to_bits(), brain.to_f32().to_bits());
                assert_eq!(f32_to_bf16(bf16_to_f32(bits)), bits);
            }
        }
    }

    fn narrows_as_it_should(number: f32) {
        let (half, brain) = (f16::from_f32(number), bf16::from_f32(number));
        if number.is_nan() {
            assert!(f16::from_bits(f32_to_f16(number)).is_nan());
            assert!(bf16::from_bits(f32_to_bf16(number)).is_nan());
        } else {
            assert_eq!(f32_to_f16(number), half.to_bits(), "{number:e}");
            assert_eq!(f32_to_bf16(number), brain.to_bits(), "{number:e}");
        }
    }

    /// Every f16, the values halfway to the next, and their neighbours.
    #[test]
    fn halfway_numbers_narrow_to_the_even_one() {
        for bits in 0..=u16::MAX {
            for single in [f16_to_f32(bits).to_bits(), bf16_to_f32(bits).to_bits()] {
                let mut row = Vec::new();
                for halfway in [0, 1 << 12, 1 << 15] {
                    let number = single.wrapping_add(halfway);
                    for number in [number.wrapping_sub(1), number, number.wrapping_add(1)] {
                        narrows_as_it_should(f32::from_bits(number));
                        row.push(f32::from_bits(number));
                    }
                }
                // More than one vector.
                rows_are_numbers_one_by_one(&row.repeat(3));
            }
        }
    }

    proptest! {
        #[test]
        fn any_number_narrows_as_it_should(bits in any::<u32>(), subnormal in -7e-5f32..7e-5) {
            narrows_as_it_should(f32::from_bits(bits));
            narrows_as_it_should(subnormal);
        }

        #[test]
        fn any_row_is_converted_number_by_number(bits in proptest::collection::vec(any::<u32>(), 0..70)) {
            let numbers: Vec<f32> = bits.into_iter().map(f32::from_bits).collect();
            rows_are_numbers_one_by_one(&numbers);
        }
    }
}
