//! Tiles of sums, whose rows regions add to from the top of the map to its bottom.

use std::ops::Range;

use super::planes::Rows;
use super::tile::Tile;
use crate::backend::flex::dtype::Sum;

/// A row is opened before it is added to, and handed out once no later region reaches it.
impl<S: Sum, const L: usize> Tile<S, L> {
    /// Opens rows. The first is not above that of an earlier call. Open rows above it are complete, and go to `done`.
    #[inline(always)]
    pub fn open(&mut self, rows: Range<usize>, done: impl FnMut(usize, &[[S; L]])) {
        self.hand_out(self.held.start..rows.start.min(self.held.end), done);
        for row in self.next_rows(rows) {
            self.row_mut(row, self.columns()).fill([S::default(); L]);
        }
    }

    /// Hands out all rows that are open.
    #[inline(always)]
    pub fn close(&self, done: impl FnMut(usize, &[[S; L]])) {
        self.hand_out(self.held.clone(), done);
    }

    #[inline(always)]
    fn hand_out(&self, rows: Range<usize>, mut done: impl FnMut(usize, &[[S; L]])) {
        for row in rows {
            done(row, self.row(row, self.columns()));
        }
    }

    /// Adds to one channel of a pixel of an open row.
    #[inline(always)]
    pub fn add(&mut self, [row, column]: [usize; 2], lane: usize, value: S) {
        let index = self.index(row, column);
        self.pixels.get_mut()[index][lane] += value;
    }

    /// Adds each element, in its channel, to the pixel at a position, which counts row by row from the top of the map.
    /// All positions lie in open rows. If a position is negative, nothing is added.
    #[inline(always)]
    pub fn add_at(&mut self, positions: &mut [[i32; L]], elements: &[[S; L]]) {
        let count = self.pixel_count() as i32;
        let before = (self.ring.start * self.columns().len()) as i32;
        // A loop of its own, since LLVM vectorizes it, but not the additions.
        for (lane, position) in (0_u32..).zip(positions.as_flattened_mut()) {
            let index = *position - before;
            let index = if index < count { index } else { index - count };
            *position = if *position < 0 { count } else { index } * L as i32 + (lane % L as u32) as i32;
        }
        let sums = self.pixels.get_mut().as_flattened_mut();
        for (&index, &element) in positions.as_flattened().iter().zip(elements.as_flattened()) {
            sums[index as u32 as usize] += element;
        }
    }
}
