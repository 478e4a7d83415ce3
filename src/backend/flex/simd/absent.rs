//! What is done by hand on x86-64 only: stores past the caches, and fetching ahead.

use std::convert::Infallible;
use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};

/// Computes a gradient with the processor's vector instructions.
pub fn dispatch_gradient<S, Op: WithSimd>(gradient: Op) -> Op::Output {
    Arch::new().dispatch(gradient)
}

/// Does nothing: fetching ahead was timed on x86-64 only.
#[inline(always)]
pub fn prefetch<E>(_elements: &[E]) {}

/// The size of the last cache, which decides about such stores.
pub fn last_cache() -> Option<usize> {
    None
}

/// Stores past the caches: there are none.
pub struct Stream<'a>(Infallible, PhantomData<&'a mut ()>);

impl<'a> Stream<'a> {
    #[inline(always)]
    pub fn new(_simd: impl Simd) -> Option<Self> {
        None
    }

    #[inline(always)]
    pub fn copy<N>(&mut self, _from: &[N], _to: &'a mut [N]) {
        match self.0 {}
    }
}
