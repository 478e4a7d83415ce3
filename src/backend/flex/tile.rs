//! Pixels of a few channels side by side, so that one operation works on all of them.

use std::ops::Range;

use super::features::{Features, Plane};
use super::number::{Number, Sum};

/// How many channels lie side by side.
pub const LANES: usize = 8;

/// Rows of pixels, each of `L` channels, for a window of the map.
pub trait Rows<S, const L: usize> {
    /// Pixels of a row of the map.
    fn row(&self, row: usize, columns: Range<usize>) -> &[[S; L]];
}

/// A copy of a window in `L` channels.
pub struct Tile<S, const L: usize> {
    rows: Range<usize>,
    columns: Range<usize>,
    pixels: Vec<[S; L]>,
    wide: Vec<S>,
}

impl<S: Sum, const L: usize> Tile<S, L> {
    pub fn new() -> Self {
        Self {
            rows: 0..0,
            columns: 0..0,
            pixels: Vec::new(),
            wide: Vec::new(),
        }
    }

    /// Copies a window of up to `L` channels; lanes beyond the last hold any numbers.
    #[inline(always)]
    pub fn load<E: Number<Sum = S>>(
        &mut self,
        features: &Features<'_, E>,
        image: usize,
        channels: Range<usize>,
        [rows, columns]: [Range<usize>; 2],
    ) {
        self.pixels
            .resize(rows.len() * columns.len(), [S::default(); L]);
        let pixels = self.pixels.chunks_exact_mut(columns.len().max(1));
        for (row, pixels) in rows.clone().zip(pixels) {
            // A row of all channels, then the next, so that what is written stays in the nearest cache.
            for (lane, channel) in channels.clone().enumerate() {
                let plane = features.plane(image, channel);
                let numbers = E::widen(plane.row(row, columns.clone()), &mut self.wide);
                for (pixel, &number) in pixels.iter_mut().zip(numbers) {
                    pixel[lane] = number;
                }
            }
        }
        self.rows = rows;
        self.columns = columns;
    }
}

impl<S, const L: usize> Rows<S, L> for Tile<S, L> {
    #[inline(always)]
    fn row(&self, row: usize, columns: Range<usize>) -> &[[S; L]] {
        if columns.is_empty() {
            return &[];
        }
        let start = (row - self.rows.start) * self.columns.len();
        let first = start + columns.start - self.columns.start;
        &self.pixels[first..first + columns.len()]
    }
}

/// A plane whose numbers have the type of sums is its own window of one channel.
impl<S: Sum, E: Number<Sum = S>> Rows<S, 1> for Plane<'_, E> {
    #[inline(always)]
    fn row(&self, row: usize, columns: Range<usize>) -> &[[S; 1]] {
        E::as_sums(Plane::row(self, row, columns)).expect("numbers that need no conversion")
    }
}

/// Takes the lanes of pixels apart: `output` is one lane after another, of as many as it has room for.
///
/// Number by number: the compiler makes slower code of squares of 4 or 8 numbers, with gathers.
#[inline(always)]
pub fn apart<S: Sum, const L: usize>(pixels: &[[S; L]], output: &mut [S]) {
    for (lane, output) in output.chunks_exact_mut(pixels.len()).enumerate().take(L) {
        for (pixel, output) in pixels.iter().zip(output) {
            *output = pixel[lane];
        }
    }
}
