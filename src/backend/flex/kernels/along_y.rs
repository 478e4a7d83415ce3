//! Rows of a window, reduced along y to one row.

use std::ops::Range;

use crate::backend::flex::dtype::Sum;
use crate::backend::flex::pixels::Rows;

/// How many rows the first pass reads, and each further one. The bins of the usual workloads read up to 5.
const FIRST: usize = 5;
const FURTHER: usize = 4;

/// Where a reduced row goes. `rows` rows are interleaved, pixel by pixel, and this one has the index `index`.
pub struct Reduced<'a, S, const L: usize> {
    pub pixels: &'a mut [[S; L]],
    pub columns: usize,
    pub rows: usize,
    pub index: usize,
}

/// Some columns of the rows of a window, from one of them on.
pub struct Source<'a, R> {
    pub rows: &'a R,
    pub first: usize,
    pub columns: &'a Range<usize>,
}

impl<R> Source<'_, R> {
    /// The rows from `offset` on.
    #[inline(always)]
    fn next<S: Sum, const L: usize, const N: usize>(&self, offset: usize) -> [&[[S; L]]; N]
    where
        R: Rows<S, L>,
    {
        let mut next: [&[[S; L]]; N] = [&[]; N];
        for (index, row) in next.iter_mut().enumerate() {
            *row = self.rows.row(self.first + offset + index, self.columns.clone());
        }
        next
    }
}

impl<S: Sum, const L: usize> Reduced<'_, S, L> {
    /// Becomes the sum of rows times their weights, from the first to the last.
    #[inline(always)]
    pub fn sum(&mut self, weights: &[S], rows: &Source<'_, impl Rows<S, L>>) {
        match weights.len() {
            0 => self.add_rows::<true, 0>([], []),
            1 => self.add_rows::<true, 1>(take(weights), rows.next(0)),
            2 => self.add_rows::<true, 2>(take(weights), rows.next(0)),
            3 => self.add_rows::<true, 3>(take(weights), rows.next(0)),
            4 => self.add_rows::<true, 4>(take(weights), rows.next(0)),
            _ => self.add_rows::<true, FIRST>(take(weights), rows.next(0)),
        }
        let mut done = FIRST;
        while weights.len() >= done + FURTHER {
            self.add_rows::<false, FURTHER>(take(&weights[done..]), rows.next(done));
            done += FURTHER;
        }
        while weights.len() > done {
            self.add_rows::<false, 1>(take(&weights[done..]), rows.next(done));
            done += 1;
        }
    }

    /// Becomes the maxima of `count` rows, in each pixel.
    #[inline(always)]
    pub fn maxima(&mut self, count: usize, rows: &Source<'_, impl Rows<S, L>>) {
        match count {
            0 => self.keep_larger::<true, 0>([]),
            1 => self.keep_larger::<true, 1>(rows.next(0)),
            2 => self.keep_larger::<true, 2>(rows.next(0)),
            3 => self.keep_larger::<true, 3>(rows.next(0)),
            4 => self.keep_larger::<true, 4>(rows.next(0)),
            _ => self.keep_larger::<true, FIRST>(rows.next(0)),
        }
        let mut done = FIRST;
        while count >= done + FURTHER {
            self.keep_larger::<false, FURTHER>(rows.next(done));
            done += FURTHER;
        }
        while count > done {
            self.keep_larger::<false, 1>(rows.next(done));
            done += 1;
        }
    }

    /// Adds rows times their weights, to 0 if `FROM_START`.
    #[inline(always)]
    fn add_rows<const FROM_START: bool, const N: usize>(&mut self, weights: [S; N], mut rows: [&[[S; L]]; N]) {
        for row in &mut rows {
            *row = &row[..self.columns];
        }
        let mut pixel = self.index;
        for column in 0..self.columns {
            let sum = &mut self.pixels[pixel];
            pixel += self.rows;
            let mut total = if FROM_START { [S::default(); L] } else { *sum };
            for (weight, row) in weights.iter().zip(&rows) {
                S::add_weighted(&mut total, *weight, &row[column]);
            }
            *sum = total;
        }
    }

    /// Takes the maximum with rows, starting at -infinity if `FROM_START`.
    #[inline(always)]
    fn keep_larger<const FROM_START: bool, const N: usize>(&mut self, mut rows: [&[[S; L]]; N]) {
        for row in &mut rows {
            *row = &row[..self.columns];
        }
        let mut pixel = self.index;
        for column in 0..self.columns {
            let maximum = &mut self.pixels[pixel];
            pixel += self.rows;
            let mut largest = if FROM_START { [S::LEAST; L] } else { *maximum };
            for row in &rows {
                S::keep_larger(&mut largest, &row[column]);
            }
            *maximum = largest;
        }
    }
}

#[inline(always)]
fn take<S: Sum, const N: usize>(weights: &[S]) -> [S; N] {
    let mut first = [S::default(); N];
    first.copy_from_slice(&weights[..N]);
    first
}
