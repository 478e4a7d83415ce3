//! Dtypes, and the types of sums.
//!
//! A dtype matters only where pixels are loaded and where results are written. All else is compiled for sums.

use std::ops::{Add, Range, Sub};

use burn::tensor::{DType, Element, bf16, f16};
use burn_flex::FlexTensor;
use pulp::Simd;

use super::memory::Kept;
use super::simd::{SimdOps, Widen, interleave_bf16, interleave_f16, narrow_bf16, narrow_f16};
use crate::geometry::plan::Coordinate;

/// The type of coordinates, weights and sums.
pub trait Sum:
    Coordinate + Element + bytemuck::Pod + Kept + SimdOps + Into<f64> + Add<Output = Self> + Sub<Output = Self>
{
    /// Below all others.
    const LEAST: Self;

    const ONE: Self;

    /// Converts a row of elements of 16 bits. This and what follows exists where these are summed in the type.
    fn widen(half: Half, _row: &[u16], _wide: &mut [Self]) {
        unreachable!("{half:?} is not summed in this type")
    }

    /// Converts and interleaves rows of elements of 16 bits.
    fn interleave_halves<const L: usize>(_simd: impl Simd, half: Half, _rows: [&[u16]; L], _pixels: &mut [[Self; L]]) {
        unreachable!("{half:?} is not summed in this type")
    }

    /// Rounds a row of sums to elements of 16 bits.
    fn narrow(_simd: impl Simd, half: Half, _sums: &[Self], _row: &mut [u16]) {
        unreachable!("{half:?} is not summed in this type")
    }
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

    fn widen(half: Half, row: &[u16], wide: &mut [Self]) {
        let row = wide.iter_mut().zip(row);
        match half {
            Half::F16 => row.for_each(|(wide, &bits)| *wide = f16::from_bits(bits).widen()),
            Half::Bf16 => row.for_each(|(wide, &bits)| *wide = bf16::from_bits(bits).widen()),
        }
    }

    #[inline(always)]
    fn interleave_halves<const L: usize>(simd: impl Simd, half: Half, rows: [&[u16]; L], pixels: &mut [[Self; L]]) {
        match half {
            Half::F16 => interleave_f16(simd, rows, pixels),
            Half::Bf16 => interleave_bf16(simd, rows, pixels),
        }
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
}

/// Elements of a tensor: of the type of their sums, or the bits of elements of 16 bits.
#[derive(Clone, Copy)]
pub enum TensorSlice<'a, S> {
    Sums(&'a [S]),
    Halves(Half, &'a [u16]),
}

/// The same, to be written.
pub enum TensorSliceMut<'a, S> {
    Sums(&'a mut [S]),
    Halves(Half, &'a mut [u16]),
}

impl<'a, S: Sum> TensorSlice<'a, S> {
    /// The whole storage of a tensor.
    pub fn of(tensor: &'a FlexTensor) -> Self {
        match tensor.dtype() {
            DType::F16 => Self::Halves(Half::F16, bytemuck::cast_slice(tensor.storage::<f16>())),
            DType::BF16 => Self::Halves(Half::Bf16, bytemuck::cast_slice(tensor.storage::<bf16>())),
            _ => Self::Sums(tensor.storage()),
        }
    }
}

impl<S> Default for TensorSliceMut<'_, S> {
    fn default() -> Self {
        Self::Sums(&mut [])
    }
}

impl<'a, S: Sum> TensorSliceMut<'a, S> {
    /// The whole storage of a tensor.
    pub fn of(tensor: &'a mut FlexTensor) -> Self {
        match tensor.dtype() {
            DType::F16 => Self::Halves(Half::F16, bytemuck::cast_slice_mut(tensor.storage_mut::<f16>())),
            DType::BF16 => Self::Halves(Half::Bf16, bytemuck::cast_slice_mut(tensor.storage_mut::<bf16>())),
            _ => Self::Sums(tensor.storage_mut()),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Sums(elements) => elements.len(),
            Self::Halves(_, bits) => bits.len(),
        }
    }

    #[inline(always)]
    pub fn get(&mut self, range: Range<usize>) -> TensorSliceMut<'_, S> {
        match self {
            Self::Sums(elements) => TensorSliceMut::Sums(&mut elements[range]),
            Self::Halves(half, bits) => TensorSliceMut::Halves(*half, &mut bits[range]),
        }
    }

    /// Takes away the first `count` elements.
    pub fn take(&mut self, count: usize) -> Self {
        let (first, rest) = match std::mem::take(self) {
            Self::Sums(elements) => {
                let (first, rest) = elements.split_at_mut(count);
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

    /// Chunks of `count` elements; the last may have fewer.
    pub fn chunks(mut self, count: usize) -> Vec<Self> {
        let mut chunks = Vec::with_capacity(self.len().div_ceil(count.max(1)));
        while self.len() > 0 {
            chunks.push(self.take(count.clamp(1, self.len())));
        }
        chunks
    }

    /// Sets all elements to a value.
    pub fn fill(&mut self, value: S) {
        match self {
            Self::Sums(elements) => elements.fill(value),
            Self::Halves(half, bits) => {
                let mut rounded = [0];
                S::narrow(pulp::Scalar::new(), *half, &[value], &mut rounded);
                bits.fill(rounded[0]);
            }
        }
    }

    /// Sets all elements to 0, which LLVM does faster than for any value.
    pub fn clear(&mut self) {
        match self {
            Self::Sums(elements) => elements.fill(S::default()),
            Self::Halves(_, bits) => bits.fill(0),
        }
    }

    /// Writes sums, one for each element, rounded.
    #[inline(always)]
    pub fn write(&mut self, simd: impl Simd, sums: &[S]) {
        match self {
            Self::Sums(elements) => elements.copy_from_slice(sums),
            Self::Halves(half, bits) => S::narrow(simd, *half, sums, bits),
        }
    }
}

/// A generic function, for the type that elements of a dtype are summed in.
macro_rules! of_sums {
    ($dtype:expr, $($function:ident)::+) => {
        match $dtype {
            burn::tensor::DType::F64 => $($function)::+::<f64>,
            burn::tensor::DType::F32 | burn::tensor::DType::F16 | burn::tensor::DType::BF16 => {
                $($function)::+::<f32>
            }
            dtype => unreachable!("a tensor of {dtype:?} is refused before"),
        }
    };
}
pub(super) use of_sums;
