//! Memory that a task uses again from region to region.

use crate::backend::flex::numbers::Number;
use crate::backend::flex::pixels::AlignedPixels;

/// Intermediate results in `L` interleaved channels.
pub struct Scratch<E: Number, const L: usize> {
    /// Rows of the window, reduced along y.
    pub along_y: AlignedPixels<E::Sum, L>,
    /// Output elements.
    pub sums: AlignedPixels<E::Sum, L>,
    /// Output elements, one channel after another.
    pub lanes: AlignedPixels<E::Sum, 1>,
    /// The same, rounded.
    pub rounded: Vec<E>,
}

impl<E: Number, const L: usize> Scratch<E, L> {
    pub fn new() -> Self {
        Self {
            along_y: AlignedPixels::new(),
            sums: AlignedPixels::new(),
            lanes: AlignedPixels::new(),
            rounded: Vec::new(),
        }
    }
}
