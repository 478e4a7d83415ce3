//! Several channels at a time with vector instructions, or one channel at a time without: decided here.

use pulp::{Arch, Simd, WithSimd};

use super::simd::{HAS_VECTORS, dispatch_gradient};

/// How many channels are interleaved.
pub const LANES: usize = 8;

/// How many channels are interleaved where that is faster.
pub const MORE_LANES: usize = 2 * LANES;

/// The most output elements of a region in a band, which are computed before they are written: 512 KiB of f32.
pub const BAND: usize = 1 << 14;

/// Fewer channels than this are computed one by one.
const FEWEST_LANES: usize = 3;

/// Work on some channels.
pub trait ChannelWork: Sized {
    /// Does it in several channels at a time. All that it calls is inlined: only then is it compiled for the
    /// instructions of `simd`.
    fn in_lanes(self, simd: impl Simd);

    /// Does it one channel at a time. So few elements gain little from vectors: it is compiled without.
    fn one_by_one(self);
}

/// Does work of a forward pass. `fits`: whether a copy of its pixels in interleaved channels is small enough.
pub fn compute(work: impl ChannelWork, channels: usize, fits: bool) {
    if in_lanes(channels, fits) {
        Arch::new().dispatch(Vectorized(work));
    } else {
        work.one_by_one();
    }
}

/// Does work of a gradient in sums of `S`.
pub fn compute_gradient<S>(work: impl ChannelWork, channels: usize, fits: bool) {
    if in_lanes(channels, fits) {
        dispatch_gradient::<S, _>(Vectorized(work));
    } else {
        work.one_by_one();
    }
}

fn in_lanes(channels: usize, fits: bool) -> bool {
    channels >= FEWEST_LANES && fits
}

/// What `pulp` is handed. Where vectors are usual, the code for processors without them computes one channel at a time,
/// so that there is less to compile.
struct Vectorized<W>(W);

impl<W: ChannelWork> WithSimd for Vectorized<W> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        if const { !V::IS_SCALAR || !HAS_VECTORS } {
            self.0.in_lanes(simd);
        } else {
            self.0.one_by_one();
        }
    }
}
