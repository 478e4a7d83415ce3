//! Where sums go: the gradient's memory, row after row.

use std::ops::Range;

use pulp::Simd;

use crate::backend::flex::numbers::{Number, Sum, deinterleave};
use crate::backend::flex::pixels::AlignedPixels;

/// What the memory for the gradient holds before a batch of regions.
#[derive(Clone, Copy)]
pub enum Earlier {
    Zeros,
    /// What a dropped tensor has left. All of it is written.
    AnyNumbers,
    /// The sums of earlier batches, to which this one adds.
    Sums,
}

/// Writes complete rows of sums to the planes of their channels, from the top of the map to its bottom.
pub struct RowWriter<S: Sum> {
    columns: Range<usize>,
    /// The width of a plane.
    width: usize,
    earlier: Earlier,
    /// As many numbers of each plane are written.
    written: usize,
    /// A row, one channel after another.
    lanes: AlignedPixels<S, 1>,
}

impl<S: Sum> RowWriter<S> {
    pub fn new(columns: Range<usize>, width: usize, earlier: Earlier) -> Self {
        Self {
            columns,
            width,
            earlier,
            written: 0,
            lanes: AlignedPixels::new(),
        }
    }

    #[inline(always)]
    pub fn write<O: Number<Sum = S>, const L: usize>(
        &mut self,
        simd: impl Simd,
        row: usize,
        pixels: &[[S; L]],
        planes: &mut [&mut [O]],
    ) {
        let count = pixels.len();
        let row = row * self.width + self.columns.start..row * self.width + self.columns.end;
        self.clear_up_to(row.start, planes);
        self.written = row.end;
        self.lanes.resize(planes.len() * count);
        let lanes = self.lanes.get_mut().as_flattened_mut();
        deinterleave(simd, pixels, lanes);
        for (plane, lane) in planes.iter_mut().zip(lanes.chunks_exact_mut(count)) {
            let row = &mut plane[row.clone()];
            if matches!(self.earlier, Earlier::Sums) {
                for (sum, earlier) in lane.iter_mut().zip(O::widen(simd, row, &mut Vec::new())) {
                    *sum += *earlier;
                }
            }
            O::narrow(simd, lane, row);
        }
    }

    /// Writes what no region reaches after the last row.
    pub fn finish<O: Number<Sum = S>>(&mut self, planes: &mut [&mut [O]]) {
        let all = planes.first().map_or(0, |plane| plane.len());
        self.clear_up_to(all, planes);
    }

    /// Writes 0 to the numbers from the last row that was written up to `end`, which no region reaches.
    #[inline(always)]
    fn clear_up_to<O: Number<Sum = S>>(&self, end: usize, planes: &mut [&mut [O]]) {
        if matches!(self.earlier, Earlier::AnyNumbers) && self.written < end {
            planes
                .iter_mut()
                .for_each(|plane| plane[self.written..end].fill(O::default()));
        }
    }
}
