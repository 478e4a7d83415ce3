//! Elements of 16 bits to f32 and back. The loops have no branches, so that LLVM vectorizes them for any processor: the
//! conversions of the `half` crate, eight elements a call, took a third of the time of an f16 kernel.

use pulp::Simd;

use super::F16Ops;

/// The bits of a row of f16 as f32, exactly.
#[inline(always)]
pub fn widen_f16<V: Simd>(simd: V, row: &[u16], wide: &mut [f32]) {
    if f32::widen_f16(simd, row, wide) {
        return;
    }
    for (wide, &bits) in wide.iter_mut().zip(row) {
        *wide = f16_to_f32(bits);
    }
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

/// The bits of a row of bf16 as f32, exactly.
#[inline(always)]
pub fn widen_bf16<V: Simd>(_simd: V, row: &[u16], wide: &mut [f32]) {
    for (wide, &bits) in wide.iter_mut().zip(row) {
        *wide = bf16_to_f32(bits);
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
    use burn::tensor::{bf16, f16};
    use proptest::prelude::*;
    use pulp::{Arch, WithSimd};

    use super::*;

    /// Numbers of f32 as a row of f16, and that row as f32 again.
    struct Rows<'a>(&'a [f32]);

    impl WithSimd for Rows<'_> {
        type Output = (Vec<u16>, Vec<f32>);

        fn with_simd<V: Simd>(self, simd: V) -> Self::Output {
            let Self(numbers) = self;
            let (mut narrow, mut wide) = (vec![0; numbers.len()], vec![0.0; numbers.len()]);
            narrow_f16(simd, numbers, &mut narrow);
            widen_f16(simd, &narrow, &mut wide);
            (narrow, wide)
        }
    }

    /// Eight rows of f16, interleaved; none where there are no instructions for that.
    struct Interleaved<'a>([&'a [u16]; 8]);

    impl WithSimd for Interleaved<'_> {
        type Output = Option<Vec<[f32; 8]>>;

        fn with_simd<V: Simd>(self, simd: V) -> Self::Output {
            let Self(rows) = self;
            let mut pixels = vec![[0.0; 8]; rows[0].len()];
            f32::interleave_f16(simd, rows, &mut pixels).then_some(pixels)
        }
    }

    #[test]
    fn rows_are_interleaved() {
        for count in 0..70 {
            let rows: [Vec<u16>; 8] = std::array::from_fn(|lane| {
                let numbers = lane * count..(lane + 1) * count;
                numbers.map(|number| f32_to_f16(number as f32)).collect()
            });
            let interleaved = Arch::new().dispatch(Interleaved(rows.each_ref().map(Vec::as_slice)));
            for (index, pixel) in interleaved.iter().flatten().enumerate() {
                assert_eq!(*pixel, std::array::from_fn(|lane| (lane * count + index) as f32));
            }
        }
    }

    fn rows_are_numbers_one_by_one(numbers: &[f32]) {
        let (narrow, wide) = Arch::new().dispatch(Rows(numbers));
        for ((number, narrow), wide) in numbers.iter().zip(narrow).zip(wide) {
            assert_eq!(narrow, f32_to_f16(*number), "{number:e}, {:x}", number.to_bits());
            assert!(wide.is_nan() == number.is_nan());
            assert!(wide.is_nan() || wide.to_bits() == f16_to_f32(narrow).to_bits());
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
