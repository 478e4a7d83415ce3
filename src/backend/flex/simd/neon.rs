//! NEON, and every instruction set without a file of its own: all is left to LLVM.

pub use super::absent::{Stream, dispatch_gradient, last_cache, prefetch};
use super::{F16Ops, SimdOps};

/// Whether `pulp` knows vector instructions that these processors usually have.
pub const HAS_VECTORS: bool = cfg!(target_arch = "aarch64");

/// Whether kernels are compiled for more lanes too. That was timed on x86-64 only.
pub const HAS_MORE_LANES: bool = false;

impl SimdOps for f64 {}
impl SimdOps for f32 {}
impl F16Ops for f32 {}
