//! Memory for pixels of a few interleaved channels.

use std::mem::take;

use super::kept_tiles::{Kept, keep, take as take_kept};

/// Pixels of `L` interleaved channels. The first begins a cache line: where a pixel is as long as a vector,
/// no vector then lies in two lines.
#[derive(Default)]
pub struct AlignedPixels<S: Kept, const L: usize> {
    elements: Vec<S>,
    /// Where the first pixel begins.
    start: usize,
    count: usize,
}

const LINE: usize = 64;

impl<S: Kept, const L: usize> AlignedPixels<S, L> {
    /// Resizes to `count` pixels; contents unspecified.
    #[inline(always)]
    pub fn resize(&mut self, count: usize) {
        let line_elements = LINE / size_of::<S>();
        if self.elements.len() < count * L + line_elements {
            self.replace(count * L + line_elements);
            // If the address is unknown, calls take longer, with the same results.
            let start = self.elements.as_ptr().align_offset(LINE);
            self.start = if start < line_elements { start } else { 0 };
        }
        self.count = count;
    }

    /// Takes other memory, of at least `count` elements. It grows by half at least, so that growth by one pixel at a
    /// time takes few blocks.
    fn replace(&mut self, count: usize) {
        let count = count.max(self.elements.len() + self.elements.len() / 2);
        keep(take(&mut self.elements));
        self.elements = take_kept(count).unwrap_or_else(|| vec![S::default(); count]);
    }

    #[inline(always)]
    pub fn get(&self) -> &[[S; L]] {
        let elements = &self.elements[self.start..self.start + self.count * L];
        elements.as_chunks().0
    }

    #[inline(always)]
    pub fn get_mut(&mut self) -> &mut [[S; L]] {
        let elements = &mut self.elements[self.start..self.start + self.count * L];
        elements.as_chunks_mut().0
    }
}

impl<S: Kept, const L: usize> Drop for AlignedPixels<S, L> {
    fn drop(&mut self) {
        keep(take(&mut self.elements));
    }
}
