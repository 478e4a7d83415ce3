//! Memory for pixels of a few interleaved channels.

use std::mem::take;

use super::kept;
use crate::backend::flex::numbers::Sum;

/// Pixels of `L` interleaved channels. The first begins a cache line: where a pixel is as long as a vector,
/// no vector then lies in two lines.
pub struct AlignedPixels<S: Sum, const L: usize> {
    numbers: Vec<S>,
    /// Where the first pixel begins.
    start: usize,
    count: usize,
}

/// The size of a cache line in bytes.
const LINE: usize = 64;

impl<S: Sum, const L: usize> AlignedPixels<S, L> {
    pub fn new() -> Self {
        Self {
            numbers: Vec::new(),
            start: 0,
            count: 0,
        }
    }

    /// Resizes to `count` pixels; contents unspecified.
    #[inline(always)]
    pub fn resize(&mut self, count: usize) {
        let of_a_line = LINE / size_of::<S>();
        if self.numbers.len() < count * L + of_a_line {
            self.replace(count * L + of_a_line);
            // Where the address can't be told, calls take longer and give the same.
            let start = self.numbers.as_ptr().align_offset(LINE);
            self.start = if start < of_a_line { start } else { 0 };
        }
        self.count = count;
    }

    /// Takes other memory, of at least so many numbers. It grows by half, so that one pixel more at a time takes few
    /// blocks.
    fn replace(&mut self, count: usize) {
        let count = count.max(self.numbers.len() + self.numbers.len() / 2);
        kept::keep(take(&mut self.numbers));
        self.numbers = kept::take(count).unwrap_or_else(|| vec![S::default(); count]);
    }

    #[inline(always)]
    pub fn get(&self) -> &[[S; L]] {
        let numbers = &self.numbers[self.start..self.start + self.count * L];
        numbers.as_chunks().0
    }

    #[inline(always)]
    pub fn get_mut(&mut self) -> &mut [[S; L]] {
        let numbers = &mut self.numbers[self.start..self.start + self.count * L];
        numbers.as_chunks_mut().0
    }
}

impl<S: Sum, const L: usize> Drop for AlignedPixels<S, L> {
    fn drop(&mut self) {
        kept::keep(take(&mut self.numbers));
    }
}
