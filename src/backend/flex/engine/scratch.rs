//! Memory that a task uses again from region to region.

use crate::backend::flex::numbers::Sum;
use crate::backend::flex::pixels::AlignedPixels;

/// Intermediate results in `L` interleaved channels.
pub struct Scratch<S: Sum, const L: usize> {
    /// Rows of the window, reduced along y.
    pub along_y: AlignedPixels<S, L>,
    /// Output elements.
    pub sums: AlignedPixels<S, L>,
    /// Output elements, one channel after another.
    pub lanes: AlignedPixels<S, 1>,
    /// The same, rounded to 16 bits.
    pub rounded: Vec<u16>,
}

impl<S: Sum, const L: usize> Scratch<S, L> {
    pub fn new() -> Self {
        Self {
            along_y: AlignedPixels::new(),
            sums: AlignedPixels::new(),
            lanes: AlignedPixels::new(),
            rounded: Vec::new(),
        }
    }
}
