//! The type of sums, and the numbers of tensors as they lie in memory.
//!
//! A dtype matters where pixels are loaded and where results are written. All else is compiled for sums alone.

use std::ops::{Add, AddAssign, Mul, Range, Sub};

use burn::tensor::{DType, Element, bf16, f16};
use burn_flex::FlexTensor;
use pulp::Simd;

use super::half::{interleave_f16, narrow_bf16, narrow_f16, widen_bf16, widen_f16};
use super::lanes::Lanes;
use super::transpose::Transpose;
use crate::backend::flex::pixels::Kept;
use crate::geometry::plan::Coordinate;

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

    /// Whether numbers of 16 bits are summed in this type.
    const SUMS_HALVES: bool;

    /// The larger of two; `self` where `other` is not a number.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    /// A row of numbers of 16 bits, as sums.
    fn widen(simd: impl Simd, half: Half, row: &[u16], wide: &mut [Self]);

    /// Interleaves rows of numbers of 16 bits, as sums, if there are instructions for that. Returns whether it did.
    fn interleave_halves<const L: usize>(
        simd: impl Simd,
        half: Half,
        rows: [&[u16]; L],
        pixels: &mut [[Self; L]],
    ) -> bool;

    /// Rounds a row of sums to numbers of 16 bits.
    fn narrow(simd: impl Simd, half: Half, sums: &[Self], row: &mut [u16]);
}

/// A dtype of 16 bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Half {
    F16,
    Bf16,
}

impl Sum for f32 {
    const LEAST: Self = f32::NEG_INFINITY;
    const ONE: Self = 1.0;
    const SUMS_HALVES: bool = true;

    #[inline(always)]
    fn widen(simd: impl Simd, half: Half, row: &[u16], wide: &mut [Self]) {
        match half {
            Half::F16 => widen_f16(simd, row, wide),
            Half::Bf16 => widen_bf16(simd, row, wide),
        }
    }

    #[inline(always)]
    fn interleave_halves<const L: usize>(
        simd: impl Simd,
        half: Half,
        rows: [&[u16]; L],
        pixels: &mut [[Self; L]],
    ) -> bool {
        half == Half::F16 && interleave_f16(simd, rows, pixels)
    }

    #[inline(always)]
    fn narrow(simd: impl Simd, half: Half, sums: &[Self], row: &mut [u16]) {
        match half {
            Half::F16 => narrow_f16(simd, sums, row),
            Half::Bf16 => narrow_bf16(simd, sums, row),
        }
    }
}

impl Sum for f64 {
    const LEAST: Self = f64::NEG_INFINITY;
    const ONE: Self = 1.0;
    const SUMS_HALVES: bool = false;

    fn widen(_simd: impl Simd, half: Half, _row: &[u16], _wide: &mut [Self]) {
        unreachable!("{half:?} is summed in f32")
    }

    fn interleave_halves<const L: usize>(
        _simd: impl Simd,
        half: Half,
        _rows: [&[u16]; L],
        _pixels: &mut [[Self; L]],
    ) -> bool {
        unreachable!("{half:?} is summed in f32")
    }

    fn narrow(_simd: impl Simd, half: Half, _sums: &[Self], _row: &mut [u16]) {
        unreachable!("{half:?} is summed in f32")
    }
}

/// Numbers of a tensor: of the type of their sums, or the bits of numbers of 16.
#[derive(Clone, Copy)]
pub enum Numbers<'a, S> {
    Sums(&'a [S]),
    Halves(Half, &'a [u16]),
}

/// The same, to be written.
pub enum NumbersMut<'a, S> {
    Sums(&'a mut [S]),
    Halves(Half, &'a mut [u16]),
}

impl<'a, S: Sum> Numbers<'a, S> {
    /// All numbers in the memory of a tensor.
    pub fn of(tensor: &'a FlexTensor) -> Self {
        match tensor.dtype() {
            DType::F16 => Self::Halves(Half::F16, bytemuck::cast_slice(tensor.storage::<f16>())),
            DType::BF16 => Self::Halves(Half::Bf16, bytemuck::cast_slice(tensor.storage::<bf16>())),
            _ => Self::Sums(tensor.storage()),
        }
    }
}

impl<S> Default for NumbersMut<'_, S> {
    fn default() -> Self {
        Self::Sums(&mut [])
    }
}

impl<'a, S: Sum> NumbersMut<'a, S> {
    /// All numbers in the memory of a tensor.
    pub fn of(tensor: &'a mut FlexTensor) -> Self {
        match tensor.dtype() {
            DType::F16 => Self::Halves(Half::F16, bytemuck::cast_slice_mut(tensor.storage_mut::<f16>())),
            DType::BF16 => Self::Halves(Half::Bf16, bytemuck::cast_slice_mut(tensor.storage_mut::<bf16>())),
            _ => Self::Sums(tensor.storage_mut()),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Sums(numbers) => numbers.len(),
            Self::Halves(_, bits) => bits.len(),
        }
    }

    /// Some of the numbers.
    #[inline(always)]
    pub fn get(&mut self, range: Range<usize>) -> NumbersMut<'_, S> {
        match self {
            Self::Sums(numbers) => NumbersMut::Sums(&mut numbers[range]),
            Self::Halves(half, bits) => NumbersMut::Halves(*half, &mut bits[range]),
        }
    }

    /// Takes away the first `count` numbers.
    pub fn take(&mut self, count: usize) -> Self {
        let (first, rest) = match std::mem::take(self) {
            Self::Sums(numbers) => {
                let (first, rest) = numbers.split_at_mut(count);
                (Self::Sums(first), Self::Sums(rest))
            }
            Self::Halves(half, bits) => {
                let (first, rest) = bits.split_at_mut(count);
                (Self::Halves(half, first), Self::Halves(half, rest))
            }
        };
        *self = rest;
        first
    }

    /// The numbers in parts of `count`, of which the last may have fewer.
    pub fn parts(mut self, count: usize) -> Vec<Self> {
        let mut parts = Vec::with_capacity(self.len().div_ceil(count.max(1)));
        while self.len() > 0 {
            parts.push(self.take(count.clamp(1, self.len())));
        }
        parts
    }

    /// Sets all numbers to one.
    pub fn fill(&mut self, number: S) {
        match self {
            Self::Sums(numbers) => numbers.fill(number),
            Self::Halves(half, bits) => {
                let mut rounded = [0];
                S::narrow(pulp::Scalar::new(), *half, &[number], &mut rounded);
                bits.fill(rounded[0]);
            }
        }
    }

    /// Sets all numbers to 0, which the compiler knows a faster way for than for any number.
    pub fn clear(&mut self) {
        match self {
            Self::Sums(numbers) => numbers.fill(S::default()),
            Self::Halves(_, bits) => bits.fill(0),
        }
    }

    /// Writes as many sums, rounded.
    #[inline(always)]
    pub fn write(&mut self, simd: impl Simd, sums: &[S]) {
        match self {
            Self::Sums(numbers) => numbers.copy_from_slice(sums),
            Self::Halves(half, bits) => S::narrow(simd, *half, sums, bits),
        }
    }
}
