//! Rows of a window, reduced along y to one row.

use std::ops::Range;

use crate::backend::flex::dtype::Sum;
use crate::backend::flex::pixels::Rows;

/// How many rows the first pass reads, and each further one. The bins of the usual workloads read up to 5.
const FIRST: usize = 5;
const FURTHER: usize = 4;

/// The window that some elements read.
pub struct Window<'a, R> {
    /// Rows of the map.
    pub rows: &'a R,
    /// The columns that are read.
    pub columns: Range<usize>,
}

/// How several rows become one, in each pixel.
pub trait RowReduction<S: Sum> {
    /// What a pixel is before the first row.
    fn start(&self) -> S;

    /// The weights of `N` rows from the row `first` on, if rows have weights.
    fn weights<const N: usize>(&self, first: usize) -> [S; N];

    /// Adds a pixel of the next row.
    fn add<const L: usize>(&self, reduced: &mut [S; L], weight: S, pixel: &[S; L]);
}

/// The sum of rows times their weights, from the first to the last.
pub struct WeightedSum<'a, S>(pub &'a [S]);

impl<S: Sum> RowReduction<S> for WeightedSum<'_, S> {
    #[inline(always)]
    fn start(&self) -> S {
        S::default()
    }

    #[inline(always)]
    fn weights<const N: usize>(&self, first: usize) -> [S; N] {
        let mut weights = [S::default(); N];
        weights.copy_from_slice(&self.0[first..first + N]);
        weights
    }

    #[inline(always)]
    fn add<const L: usize>(&self, reduced: &mut [S; L], weight: S, pixel: &[S; L]) {
        S::add_weighted(reduced, weight, pixel);
    }
}

/// The maximum of rows.
pub struct Maximum;

impl<S: Sum> RowReduction<S> for Maximum {
    #[inline(always)]
    fn start(&self) -> S {
        S::LEAST
    }

    #[inline(always)]
    fn weights<const N: usize>(&self, _first: usize) -> [S; N] {
        [S::ONE; N]
    }

    #[inline(always)]
    fn add<const L: usize>(&self, reduced: &mut [S; L], _weight: S, pixel: &[S; L]) {
        S::keep_larger(reduced, pixel);
    }
}

/// Where a reduced row goes. `rows` rows are interleaved, pixel by pixel, and this one has the index `index`.
pub struct Reduced<'a, S, const L: usize> {
    pub pixels: &'a mut [[S; L]],
    pub columns: usize,
    pub rows: usize,
    pub index: usize,
}

impl<S: Sum, const L: usize> Reduced<'_, S, L> {
    /// Becomes the reduction of some rows of a window.
    #[inline(always)]
    pub fn reduce(&mut self, by: &impl RowReduction<S>, window: &Window<'_, impl Rows<S, L>>, rows: &Range<usize>) {
        match rows.len() {
            0 => self.add_rows::<true, 0>(by, window, rows.start, 0),
            1 => self.add_rows::<true, 1>(by, window, rows.start, 0),
            2 => self.add_rows::<true, 2>(by, window, rows.start, 0),
            3 => self.add_rows::<true, 3>(by, window, rows.start, 0),
            4 => self.add_rows::<true, 4>(by, window, rows.start, 0),
            _ => self.add_rows::<true, FIRST>(by, window, rows.start, 0),
        }
        let mut done = FIRST;
        while rows.len() >= done + FURTHER {
            self.add_rows::<false, FURTHER>(by, window, rows.start, done);
            done += FURTHER;
        }
        while rows.len() > done {
            self.add_rows::<false, 1>(by, window, rows.start, done);
            done += 1;
        }
    }

    /// Adds `N` of the rows from `first` on, of which some are done already; none if `FROM_START`.
    #[inline(always)]
    fn add_rows<const FROM_START: bool, const N: usize>(
        &mut self,
        by: &impl RowReduction<S>,
        window: &Window<'_, impl Rows<S, L>>,
        first: usize,
        done: usize,
    ) {
        let weights = by.weights::<N>(done);
        let mut rows: [&[[S; L]]; N] = [&[]; N];
        for (index, row) in rows.iter_mut().enumerate() {
            *row = &window.rows.row(first + done + index, window.columns.clone())[..self.columns];
        }
        let mut pixel = self.index;
        for column in 0..self.columns {
            let reduced = &mut self.pixels[pixel];
            pixel += self.rows;
            let mut total = if FROM_START { [by.start(); L] } else { *reduced };
            for (weight, row) in weights.iter().zip(&rows) {
                by.add(&mut total, *weight, &row[column]);
            }
            *reduced = total;
        }
    }
}
