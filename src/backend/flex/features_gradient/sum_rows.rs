//! Rows of sums that regions add to, from the top of the map to its bottom.

use std::ops::Range;

use crate::backend::flex::dtype::Sum;
use crate::backend::flex::memory::AlignedPixels;
use crate::backend::flex::pixels::Ring;

/// A ring buffer of rows of a map, `L` channels interleaved. A row is opened before it is added to, and handed out once
/// no later region reaches it.
///
/// Few rows stay in the nearest caches: on the map of `box-p2`, 32 rows are 300 KiB and all 200 are 2 MiB.
#[derive(Default)]
pub struct SumRows<S: Sum, const L: usize> {
    ring: Ring,
    /// The rows that are open.
    open: Range<usize>,
    columns: Range<usize>,
    pixels: AlignedPixels<S, L>,
}

impl<S: Sum, const L: usize> SumRows<S, L> {
    /// Forgets all rows, and holds up to `rows` of these columns from then on.
    pub fn clear(&mut self, rows: usize, columns: Range<usize>) {
        self.ring = Ring::of(rows);
        self.open = 0..0;
        self.columns = columns;
        // One pixel more, for elements that were read from no pixel.
        self.pixels.resize(self.pixel_count() + 1);
    }

    /// Opens rows. The first is not above that of an earlier call. Open rows above it are complete, and go to `done`.
    #[inline(always)]
    pub fn open(&mut self, rows: Range<usize>, done: impl FnMut(usize, &[[S; L]])) {
        self.hand_out(self.open.start..rows.start.min(self.open.end), done);
        self.ring.move_to(rows.start);
        for row in rows.start.max(self.open.end)..rows.end {
            self.row(row, self.columns.clone()).fill([S::default(); L]);
        }
        self.open = rows.start..rows.end.max(self.open.end);
    }

    /// Hands out all rows that are open.
    #[inline(always)]
    pub fn close(&mut self, done: impl FnMut(usize, &[[S; L]])) {
        self.hand_out(self.open.clone(), done);
        self.open = 0..0;
    }

    #[inline(always)]
    fn hand_out(&mut self, rows: Range<usize>, mut done: impl FnMut(usize, &[[S; L]])) {
        for row in rows {
            done(row, self.row(row, self.columns.clone()));
        }
    }

    /// Columns of an open row.
    #[inline(always)]
    pub fn row(&mut self, row: usize, columns: Range<usize>) -> &mut [[S; L]] {
        let first = self.index([row, columns.start]);
        &mut self.pixels.get_mut()[first..first + columns.len()]
    }

    /// Adds to one channel of a pixel of an open row.
    #[inline(always)]
    pub fn add(&mut self, [row, column]: [usize; 2], lane: usize, value: S) {
        let index = self.index([row, column]);
        self.pixels.get_mut()[index][lane] += value;
    }

    /// Adds each element, in its channel, to the pixel at a position, which counts row by row from the top of the map.
    /// All positions lie in open rows. If a position is negative, nothing is added.
    #[inline(always)]
    pub fn add_at(&mut self, positions: &mut [[i32; L]], elements: &[[S; L]]) {
        let count = self.pixel_count() as i32;
        let before = (self.ring.start() * self.columns.len()) as i32;
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

    fn pixel_count(&self) -> usize {
        self.row_count() * self.columns.len()
    }

    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    pub fn row_count(&self) -> usize {
        self.ring.row_count()
    }

    /// The index of a pixel of an open row.
    #[inline(always)]
    fn index(&self, [row, column]: [usize; 2]) -> usize {
        self.ring.slot(row) * self.columns.len() + column - self.columns.start
    }
}
