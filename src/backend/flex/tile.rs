//! Pixels of a few channels side by side, so that one operation works on all of them.

use std::ops::Range;

use pulp::Simd;

use super::features::{Features, Plane};
use super::number::{Number, Sum};
use super::pixels::Pixels;
use super::transpose::together;

/// How many channels lie side by side.
pub const LANES: usize = 8;

/// A copy of pixels has room for at most this many: 4 MiB of f32.
pub const LARGEST_TILE: usize = 1 << 17;

/// Rows of pixels, each of `L` channels, for a window of the map.
pub trait Rows<S, const L: usize> {
    /// Pixels of a row of the map.
    fn row(&self, row: usize, columns: Range<usize>) -> &[[S; L]];
}

/// A copy of the map's last few rows that were asked for, in `L` channels.
///
/// Regions come from the top to the bottom, and few rows stay in the nearest caches: on the map of
/// `box-p2`, 32 rows are 300 KiB and all 200 are 2 MiB.
pub struct Tile<S, const L: usize> {
    /// How many rows there is room for. It is a power of two, so that a row's place, its number modulo
    /// this, takes no division.
    capacity: usize,
    /// Rows up to this one were copied, or were not asked for.
    end: usize,
    columns: Range<usize>,
    pixels: Pixels<S, L>,
    wide: [Vec<S>; L],
}

/// How many pixels a tile for a window has room for at most.
pub fn room([rows, columns]: &[Range<usize>; 2]) -> usize {
    rows.len().next_power_of_two() * columns.len()
}

impl<S: Sum, const L: usize> Tile<S, L> {
    pub fn new() -> Self {
        Self {
            capacity: 0,
            end: 0,
            columns: 0..0,
            pixels: Pixels::new(),
            wide: std::array::from_fn(|_| Vec::new()),
        }
    }

    /// Forgets all rows, and makes room for `rows` at a time of these columns.
    #[inline(always)]
    pub fn clear(&mut self, rows: usize, columns: Range<usize>) {
        self.capacity = rows.next_power_of_two();
        self.end = 0;
        self.pixels.resize(self.capacity * columns.len());
        self.columns = columns;
    }

    /// Copies rows in up to `L` channels, those that were not copied before; lanes beyond the last
    /// channel hold any numbers. The first of the rows is none before those of an earlier call, and rows
    /// before it may be overwritten.
    #[inline(always)]
    pub fn load<E: Number<Sum = S>>(
        &mut self,
        simd: impl Simd,
        features: &Features<'_, E>,
        image: usize,
        channels: Range<usize>,
        rows: Range<usize>,
    ) {
        let width = self.columns.len();
        for row in rows.start.max(self.end)..rows.end {
            let mut lanes: [&[S]; L] = [&[]; L];
            for (lane, (numbers, wide)) in lanes.iter_mut().zip(&mut self.wide).enumerate() {
                let plane = features.plane(image, (channels.start + lane).min(channels.end - 1));
                *numbers = E::widen(plane.row(row, self.columns.clone()), wide);
            }
            let start = (row & (self.capacity - 1)) * width;
            together(simd, lanes, &mut self.pixels.get_mut()[start..start + width]);
        }
        self.end = self.end.max(rows.end);
    }
}

impl<S: Sum, const L: usize> Rows<S, L> for Tile<S, L> {
    #[inline(always)]
    fn row(&self, row: usize, columns: Range<usize>) -> &[[S; L]] {
        if columns.is_empty() {
            return &[];
        }
        let start = (row & (self.capacity - 1)) * self.columns.len();
        let first = start + columns.start - self.columns.start;
        &self.pixels.get()[first..first + columns.len()]
    }
}

/// A plane whose numbers have the type of sums is its own window of one channel.
impl<S: Sum, E: Number<Sum = S>> Rows<S, 1> for Plane<'_, E> {
    #[inline(always)]
    fn row(&self, row: usize, columns: Range<usize>) -> &[[S; 1]] {
        E::as_sums(Plane::row(self, row, columns)).expect("numbers that need no conversion")
    }
}
