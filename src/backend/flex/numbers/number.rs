//! The numbers of features, and the type that their sums have.

use std::ops::{Add, AddAssign, Mul, Sub};

use burn::tensor::{Element, bf16, f16};
use pulp::Simd;

use super::half::{interleave_f16, narrow_bf16, narrow_f16, widen_bf16, widen_f16};
use super::lanes::Lanes;
use super::transpose::{Transpose, interleave};
use crate::backend::flex::pixels::{Kept, Unit};
use crate::geometry::plan::Coordinate;

/// A number of a feature map.
pub trait Number: Element + bytemuck::Pod + Default {
    /// The type of coordinates, weights and sums.
    type Sum: Sum;

    /// An integer of its size and alignment.
    type Unit: Unit;

    /// A row of numbers as it lies in memory, where sums are of the same type.
    fn as_sums(row: &[Self]) -> Option<&[[Self::Sum; 1]]>;

    /// A row of numbers as sums; `wide` is where they are put if that takes a conversion.
    fn widen<'a>(simd: impl Simd, row: &'a [Self], wide: &'a mut Vec<Self::Sum>) -> &'a [Self::Sum];

    /// Interleaves rows, as sums; `wide` is where they are put if that takes a conversion.
    #[inline(always)]
    fn interleave_rows<const L: usize>(
        simd: impl Simd,
        rows: [&[Self]; L],
        wide: &mut [Vec<Self::Sum>; L],
        pixels: &mut [[Self::Sum; L]],
    ) {
        widen_and_interleave(simd, rows, wide, pixels);
    }

    /// Rounds a row of sums.
    fn narrow(simd: impl Simd, sums: &[Self::Sum], row: &mut [Self]);

    /// A row of rounded sums; `row` is where they are put if that takes a conversion.
    fn narrowed<'a>(simd: impl Simd, sums: &'a [Self::Sum], row: &'a mut Vec<Self>) -> &'a [Self];

    /// Rounds one sum.
    fn store(sum: Self::Sum) -> Self;
}

#[inline(always)]
fn widen_and_interleave<E: Number, const L: usize>(
    simd: impl Simd,
    rows: [&[E]; L],
    wide: &mut [Vec<E::Sum>; L],
    pixels: &mut [[E::Sum; L]],
) {
    let mut lanes: [&[E::Sum]; L] = [&[]; L];
    for ((lane, row), wide) in lanes.iter_mut().zip(rows).zip(wide) {
        *lane = E::widen(simd, row, wide);
    }
    interleave(simd, lanes, pixels);
}

/// The type of coordinates, weights and sums.
pub trait Sum:
    Coordinate
    + Element
    + bytemuck::Pod
    + Kept
    + Transpose
    + Lanes
    + Into<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + AddAssign
{
    /// The number that every other one is above.
    const LEAST: Self;

    /// One.
    const ONE: Self;

    /// The larger of two; `self` where `other` is not a number.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

macro_rules! sum {
    ($type:ty, $bits:ty) => {
        impl Sum for $type {
            const LEAST: Self = <$type>::NEG_INFINITY;
            const ONE: Self = 1.0;
        }

        impl Number for $type {
            type Sum = $type;
            type Unit = $bits;

            #[inline(always)]
            fn as_sums(row: &[Self]) -> Option<&[[Self; 1]]> {
                Some(bytemuck::cast_slice(row))
            }

            #[inline(always)]
            fn widen<'a>(_simd: impl Simd, row: &'a [Self], _wide: &'a mut Vec<Self>) -> &'a [Self] {
                row
            }

            #[inline(always)]
            fn narrow(_simd: impl Simd, sums: &[Self], row: &mut [Self]) {
                row.copy_from_slice(sums);
            }

            #[inline(always)]
            fn narrowed<'a>(_simd: impl Simd, sums: &'a [Self], _row: &'a mut Vec<Self>) -> &'a [Self] {
                sums
            }

            fn store(sum: Self) -> Self {
                sum
            }
        }
    };
}

sum!(f32, u32);
sum!(f64, u64);

macro_rules! half {
    ($type:ty, $widen:ident, $narrow:ident $(, $interleave:ident)?) => {
        impl Number for $type {
            type Sum = f32;
            type Unit = u16;

            #[inline(always)]
            fn as_sums(_row: &[Self]) -> Option<&[[f32; 1]]> {
                None
            }

            #[inline(always)]
            fn widen<'a>(simd: impl Simd, row: &'a [Self], wide: &'a mut Vec<f32>) -> &'a [f32] {
                let wide = at_least(wide, row.len());
                $widen(simd, bytemuck::cast_slice(row), wide);
                wide
            }

            $(
                #[inline(always)]
                fn interleave_rows<const L: usize>(
                    simd: impl Simd,
                    rows: [&[Self]; L],
                    wide: &mut [Vec<f32>; L],
                    pixels: &mut [[f32; L]],
                ) {
                    if !$interleave(simd, rows.map(bytemuck::cast_slice), pixels) {
                        widen_and_interleave(simd, rows, wide, pixels);
                    }
                }
            )?

            #[inline(always)]
            fn narrow(simd: impl Simd, sums: &[f32], row: &mut [Self]) {
                $narrow(simd, sums, bytemuck::cast_slice_mut(row));
            }

            #[inline(always)]
            fn narrowed<'a>(simd: impl Simd, sums: &'a [f32], row: &'a mut Vec<Self>) -> &'a [Self] {
                let row = at_least(row, sums.len());
                Self::narrow(simd, sums, row);
                row
            }

            fn store(sum: f32) -> Self {
                Self::from_f32(sum)
            }
        }
    };
}

half!(f16, widen_f16, narrow_f16, interleave_f16);
half!(bf16, widen_bf16, narrow_bf16);

/// The first `count` numbers, of which there are as many then.
#[inline(always)]
fn at_least<N: Copy + Default>(numbers: &mut Vec<N>, count: usize) -> &mut [N] {
    if numbers.len() < count {
        numbers.resize(count, N::default());
    }
    &mut numbers[..count]
}
