//! A copy of pixels with a few channels interleaved, so that one operation works on all of them.

use std::ops::Range;

use pulp::{Simd, WithSimd};

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

/// A ring buffer of feature rows, `L` channels interleaved.
///
/// Regions come from the top to the bottom, and few rows stay in the nearest caches: on the map of
/// `box-p2`, 32 rows are 300 KiB and all 200 are 2 MiB.
#[derive(Default)]
pub struct Tile<S: Sum, const L: usize> {
    ring: Ring,
    /// Rows below this one were copied, or will not be asked for.
    end: usize,
    columns: Range<usize>,
    pixels: AlignedPixels<S, L>,
}

impl<S: Sum, const L: usize> Tile<S, L> {
    /// Forgets all rows, and holds up to `rows` of these columns from then on.
    #[inline(always)]
    pub fn clear(&mut self, rows: usize, columns: Range<usize>) {
        self.ring = Ring::of(rows);
        self.end = 0;
        self.pixels.resize(rows * columns.len());
        self.columns = columns;
    }

    /// Whether it holds no columns, as a new one does.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
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
        simd.vectorize(Load {
            tile: self,
            features,
            image,
            channels,
            rows,
        });
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
        let load = Load {
            tile: self,
            features,
            image,
            channels,
            rows: row..row + 1,
        };
        load.with_simd(simd);
    }

    /// Rows not yet loaded into the ring buffer: the caller writes them. The first of `rows` is not above that of an
    /// earlier call, and rows above it may be overwritten.
    #[inline(always)]
    pub fn next_rows(&mut self, rows: Range<usize>) -> Range<usize> {
        self.ring.move_to(rows.start);
        let next = rows.start.max(self.end)..rows.end;
        self.end = self.end.max(rows.end);
        next
    }

    /// A row that is to be written.
    #[inline(always)]
    pub fn row_mut(&mut self, row: usize) -> &mut [[S; L]] {
        let range = self.slot(row);
        &mut self.pixels.get_mut()[range]
    }

    #[inline(always)]
    fn slot(&self, row: usize) -> Range<usize> {
        let start = self.ring.slot(row) * self.columns.len();
        start..start + self.columns.len()
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
        let start = self.ring.slot(row) * self.columns.len();
        let first = start + columns.start - self.columns.start;
        &self.pixels.get()[first..first + columns.len()]
    }
}

/// Rows that are copied. It is compiled once for all kernels, since `pulp` gets it separately.
struct Load<'a, 'b, S: Sum, const L: usize> {
    tile: &'a mut Tile<S, L>,
    features: &'a Planes<'b, S>,
    image: usize,
    channels: &'a LaneChannels,
    rows: Range<usize>,
}

impl<S: Sum, const L: usize> WithSimd for Load<'_, '_, S, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let Self {
            tile,
            features,
            image,
            channels,
            rows,
        } = self;
        let mut starts = [0; L];
        for (lane, start) in starts.iter_mut().enumerate() {
            let channel = channels.first + lane.min(channels.count - 1) * channels.step;
            *start = features.start(image, channel) + tile.columns.start as isize;
        }
        let width = tile.columns.len();
        for row in rows {
            let range = tile.slot(row);
            let pixels = &mut tile.pixels.get_mut()[range];
            let row_offset = row as isize * features.strides[2];
            match features.elements {
                TensorSlice::Sums(elements) => interleave(simd, lanes(elements, &starts, row_offset, width), pixels),
                TensorSlice::Halves(half, bits) => {
                    S::interleave_halves(simd, half, lanes(bits, &starts, row_offset, width), pixels);
                }
            }
        }
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
