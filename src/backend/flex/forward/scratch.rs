//! Memory that a task of a forward pass reuses from region to region.

use crate::backend::flex::dtype::Sum;
use crate::backend::flex::memory::AlignedPixels;

/// Intermediate results in `L` interleaved channels.
#[derive(Default)]
pub struct PoolScratch<S: Sum, const L: usize> {
    /// Rows of the window, reduced along y.
    pub along_y: AlignedPixels<S, L>,
    /// Output elements, or those of a slice of a volume.
    pub sums: AlignedPixels<S, L>,
    /// Output elements of regions of a volume.
    pub volumes: AlignedPixels<S, L>,
    pub writing: WriteScratch<S>,
}

/// Elements on their way to the output.
#[derive(Default)]
pub struct WriteScratch<S: Sum> {
    /// Output elements, one channel after another.
    pub lanes: AlignedPixels<S, 1>,
    /// The same, rounded to 16 bits.
    pub rounded: Vec<u16>,
}
