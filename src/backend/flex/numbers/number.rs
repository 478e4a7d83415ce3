//! The numbers of features, and the type that their sums have.

use std::ops::{Add, AddAssign, Mul, Sub};

use burn::tensor::{Element, bf16, f16};

use super::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use super::lanes::Lanes;
use super::transpose::Transpose;
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
    fn widen<'a>(row: &'a [Self], wide: &'a mut Vec<Self::Sum>) -> &'a [Self::Sum];

    /// Rounds a row of sums.
    fn narrow(sums: &[Self::Sum], row: &mut [Self]);

    /// Rounds one sum.
    fn store(sum: Self::Sum) -> Self;
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
            fn widen<'a>(row: &'a [Self], _wide: &'a mut Vec<Self>) -> &'a [Self] {
                row
            }

            #[inline(always)]
            fn narrow(sums: &[Self], row: &mut [Self]) {
                row.copy_from_slice(sums);
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
    ($type:ty, $to_f32:ident, $from_f32:ident) => {
        impl Number for $type {
            type Sum = f32;
            type Unit = u16;

            #[inline(always)]
            fn as_sums(_row: &[Self]) -> Option<&[[f32; 1]]> {
                None
            }

            #[inline(always)]
            fn widen<'a>(row: &'a [Self], wide: &'a mut Vec<f32>) -> &'a [f32] {
                let wide = at_least(wide, row.len());
                for (wide, number) in wide.iter_mut().zip(row) {
                    *wide = $to_f32(number.to_bits());
                }
                wide
            }

            #[inline(always)]
            fn narrow(sums: &[f32], row: &mut [Self]) {
                for (number, sum) in row.iter_mut().zip(sums) {
                    *number = Self::from_bits($from_f32(*sum));
                }
            }

            fn store(sum: f32) -> Self {
                Self::from_f32(sum)
            }
        }
    };
}

half!(f16, f16_to_f32, f32_to_f16);
half!(bf16, bf16_to_f32, f32_to_bf16);

/// The first `count` numbers, of which there are as many then.
#[inline(always)]
fn at_least(numbers: &mut Vec<f32>, count: usize) -> &mut [f32] {
    if numbers.len() < count {
        numbers.resize(count, 0.0);
    }
    &mut numbers[..count]
}
