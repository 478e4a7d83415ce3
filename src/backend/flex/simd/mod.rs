//! Vector instructions.
//!
//! The loops of [`portable`] and [`half`] are written so that LLVM makes vectors of them for any processor. [`SimdOps`]
//! and [`F16Ops`] are what an instruction set does better by hand. A new instruction set is one file beside `x86`,
//! `neon` and `wasm`: it implements `SimdOps` for f32 and f64 and `F16Ops` for f32, has the other names that `neon`
//! has, and is listed below.
//!
//! - [`interleave`]: from one slice for each channel to pixels of interleaved channels, and back.
//! - [`stream`]: which outputs are written past the caches.

use std::ops::{AddAssign, Mul};

use pulp::Simd;

mod half;
mod interleave;
mod portable;
mod stream;

#[cfg(not(target_arch = "x86_64"))]
mod absent;
#[cfg(not(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128"))))]
mod neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(not(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128"))))]
use neon as instructions;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use wasm as instructions;
#[cfg(target_arch = "x86_64")]
use x86 as instructions;

pub use half::{interleave_bf16, interleave_f16, narrow_bf16, narrow_f16};
pub use instructions::{HAS_MORE_LANES, HAS_VECTORS, Stream, dispatch_gradient, prefetch};
pub use interleave::{deinterleave, interleave};
pub use stream::pays_to_stream;

/// Operations on pixels of `L` interleaved channels. A wide pixel is such a pixel in each of `N` rows.
pub trait SimdOps: Copy + Default + PartialOrd + Mul<Output = Self> + AddAssign {
    /// The sum of wide pixels times their weights, from the first to the last.
    #[inline(always)]
    fn weighted_sum<'a, V: Simd, const L: usize, const N: usize>(
        _simd: V,
        weights: &[Self],
        pixels: impl Iterator<Item = &'a [[Self; L]; N]> + Clone,
    ) -> [[Self; L]; N]
    where
        Self: 'a,
    {
        portable::weighted_sum(weights, pixels)
    }

    /// The maxima of wide pixels, and of `start`. NaN is ignored.
    #[inline(always)]
    fn maxima<V: Simd, const L: usize, const N: usize>(
        _simd: V,
        start: Self,
        pixels: &[[[Self; L]; N]],
    ) -> [[Self; L]; N] {
        portable::maxima(start, pixels)
    }

    /// Adds a weighted pixel to a sum.
    #[inline(always)]
    fn add_weighted<const L: usize>(total: &mut [Self; L], weight: Self, pixel: &[Self; L]) {
        portable::add_weighted(total, weight, pixel);
    }

    /// Adds weighted pixels to sums.
    #[inline(always)]
    fn add_weighted_row<V: Simd, const L: usize>(_simd: V, sums: &mut [[Self; L]], weight: Self, pixels: &[[Self; L]]) {
        portable::add_weighted_row(sums, weight, pixels);
    }

    /// Takes the larger of two pixels in each channel. NaN is ignored.
    #[inline(always)]
    fn keep_larger<const L: usize>(maximum: &mut [Self; L], pixel: &[Self; L]) {
        portable::keep_larger(maximum, pixel);
    }

    /// Transposes a square: rows become columns.
    #[inline(always)]
    fn transpose<V: Simd, const L: usize>(_simd: V, square: [[Self; L]; L]) -> [[Self; L]; L] {
        portable::transpose(square)
    }
}

/// An element as it is stored, which is widened to the type of its sum.
pub trait Widen<N>: Copy {
    fn widen(self) -> N;
}

impl<N: SimdOps> Widen<N> for N {
    #[inline(always)]
    fn widen(self) -> N {
        self
    }
}

/// Conversions of rows of f16 by instructions for them. Each returns whether it converted its rows.
pub trait F16Ops: Sized {
    /// Interleaves rows while it converts them.
    #[inline(always)]
    fn interleave_f16<V: Simd, const L: usize>(_simd: V, _rows: [&[u16]; L], _pixels: &mut [[Self; L]]) -> bool {
        false
    }

    /// To the nearest f16, of two the even one.
    #[inline(always)]
    fn narrow_f16<V: Simd>(_simd: V, _sums: &[Self], _row: &mut [u16]) -> bool {
        false
    }
}

/// The instruction sets of this machine that kernels may be compiled for.
#[cfg(test)]
fn archs() -> Vec<pulp::Arch> {
    [
        Some(pulp::Arch::Scalar),
        Some(pulp::Arch::new()),
        #[cfg(target_arch = "x86_64")]
        pulp::x86::V3::try_new().map(pulp::Arch::V3),
    ]
    .into_iter()
    .flatten()
    .collect()
}
