//! A copy of pixels with a few channels interleaved, so that one operation works on all of them.

use std::ops::Range;

use pulp::Simd;

use super::planes::{Planes, Rows};
use super::ring::Ring;
use crate::backend::flex::dtype::{Sum, TensorSlice};
use crate::backend::flex::memory::AlignedPixels;
use crate::backend::flex::simd::interleave;
use crate::geometry::plan::ChannelGroup;

/// A tile holds at most this many pixels: 4 MiB of f32.
pub const LARGEST_TILE: usize = 1 << 17;

/// The channels that are interleaved: `count` of them, `step` apart.
pub struct LaneChannels {
    pub first: usize,
    pub step: usize,
    pub count: usize,
}

impl LaneChannels {
    /// Channels side by side.
    #[inline(always)]
    pub fn adjacent(channels: &Range<usize>) -> Self {
        Self {
            first: channels.start,
            step: 1,
            count: channels.len(),
        }
    }

    /// The channels that output channels read in a group of elements.
    #[inline(always)]
    pub fn of_group(group: &ChannelGroup, output_channels: &Range<usize>) -> Self {
        Self {
            first: group.first_channel + output_channels.start * group.channel_step,
            step: group.channel_step,
            count: output_channels.len(),
        }
    }
}

/// A ring buffer of rows of a map, of pixels or of sums, `L` channels interleaved.
///
/// Regions come from the top to the bottom, and few rows stay in the nearest caches: on the map of
/// `box-p2`, 32 rows are 300 KiB and all 200 are 2 MiB.
#[derive(Default)]
pub struct Tile<S: Sum, const L: usize> {
    pub(super) ring: Ring,
    /// The rows that were asked for last, and those after them that were asked for before.
    pub(super) held: Range<usize>,
    columns: Range<usize>,
    pub(super) pixels: AlignedPixels<S, L>,
}

impl<S: Sum, const L: usize> Tile<S, L> {
    /// Forgets all rows, and holds up to `rows` of these columns from then on.
    #[inline(always)]
    pub fn clear(&mut self, rows: usize, columns: Range<usize>) {
        self.ring = Ring { rows, start: 0 };
        self.held = 0..0;
        self.columns = columns;
        // One pixel more, for elements that were read from no pixel.
        self.pixels.resize(self.pixel_count() + 1);
    }

    /// How many pixels it holds at most.
    #[inline(always)]
    pub(super) fn pixel_count(&self) -> usize {
        self.ring.rows * self.columns.len()
    }

    #[inline(always)]
    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// Copies rows that were not copied before, in up to `L` channels; lanes beyond the last channel hold copies of it.
    #[inline(always)]
    pub fn load(
        &mut self,
        simd: impl Simd,
        features: &Planes<'_, S>,
        image: usize,
        channels: &LaneChannels,
        rows: Range<usize>,
    ) {
        let rows = self.next_rows(rows);
        if rows.is_empty() {
            return;
        }
        // It is compiled once for all kernels, since `pulp` gets it separately.
        simd.vectorize(
            #[inline(always)]
            move || self.copy(simd, features, image, channels, rows),
        );
    }

    /// Copies a row to a tile of one row, in a caller that `pulp` gets separately.
    #[inline(always)]
    pub fn load_row(
        &mut self,
        simd: impl Simd,
        features: &Planes<'_, S>,
        image: usize,
        channels: &LaneChannels,
        row: usize,
    ) {
        self.ring.move_to(row);
        self.copy(simd, features, image, channels, row..row + 1);
    }

    #[inline(always)]
    fn copy(
        &mut self,
        simd: impl Simd,
        features: &Planes<'_, S>,
        image: usize,
        channels: &LaneChannels,
        rows: Range<usize>,
    ) {
        let mut starts = [0; L];
        for (lane, start) in starts.iter_mut().enumerate() {
            let channel = channels.first + lane.min(channels.count - 1) * channels.step;
            *start = features.start(image, channel) + self.columns.start as isize;
        }
        let (columns, width) = (self.columns.clone(), self.columns.len());
        for row in rows {
            let pixels = self.row_mut(row, columns.clone());
            let row_offset = row as isize * features.strides[2];
            match features.elements {
                TensorSlice::Sums(elements) => interleave(simd, lanes(elements, &starts, row_offset, width), pixels),
                TensorSlice::Halves(half, bits) => {
                    S::interleave_halves(simd, half, lanes(bits, &starts, row_offset, width), pixels);
                }
            }
        }
    }

    /// Rows not yet loaded into the ring buffer: the caller writes them. The first of `rows` is not above that of an
    /// earlier call, and rows above it may be overwritten.
    #[inline(always)]
    pub fn next_rows(&mut self, rows: Range<usize>) -> Range<usize> {
        self.ring.move_to(rows.start);
        let next = rows.start.max(self.held.end)..rows.end;
        self.held = rows.start..self.held.end.max(rows.end);
        next
    }

    /// Columns of a row that is to be written.
    #[inline(always)]
    pub fn row_mut(&mut self, row: usize, columns: Range<usize>) -> &mut [[S; L]] {
        let first = self.index(row, columns.start);
        &mut self.pixels.get_mut()[first..first + columns.len()]
    }

    /// The index of a pixel.
    #[inline(always)]
    pub(super) fn index(&self, row: usize, column: usize) -> usize {
        self.ring.slot(row) * self.columns.len() + column - self.columns.start
    }

    /// Sets all lanes from `first` on to 0.
    #[inline(always)]
    pub fn clear_lanes(&mut self, first: usize) {
        if first < L {
            self.pixels
                .get_mut()
                .iter_mut()
                .for_each(|pixel| pixel[first..].fill(S::default()));
        }
    }
}

impl<S: Sum, const L: usize> Rows<S, L> for Tile<S, L> {
    #[inline(always)]
    fn row(&self, row: usize, columns: Range<usize>) -> &[[S; L]] {
        if columns.is_empty() {
            return &[];
        }
        let first = self.index(row, columns.start);
        &self.pixels.get()[first..first + columns.len()]
    }
}

/// `width` elements for each start, from `start + offset` on.
#[inline(always)]
fn lanes<'a, E, const L: usize>(elements: &'a [E], starts: &[isize; L], offset: isize, width: usize) -> [&'a [E]; L] {
    let mut lanes: [&[E]; L] = [&[]; L];
    for (lane, start) in lanes.iter_mut().zip(starts) {
        *lane = &elements[(start + offset) as usize..][..width];
    }
    lanes
}
