//! Writes sums to the gradient, row after row.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::memory::AlignedPixels;
use crate::backend::flex::simd::deinterleave;

/// What the memory for the gradient holds before a batch of regions.
#[derive(Clone, Copy)]
pub enum Earlier {
    Zeros,
    /// The elements of a dropped tensor: every one must be written.
    Unspecified,
    /// The sums of earlier batches, to which this one adds.
    Sums,
}

/// Writes complete rows of sums to the planes of their channels, from the top of the map to its bottom.
pub struct RowWriter<S: Sum> {
    columns: Range<usize>,
    width: usize,
    earlier: Earlier,
    /// How many elements of each plane are written.
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
            lanes: AlignedPixels::default(),
        }
    }

    #[inline(always)]
    pub fn write<const L: usize>(
        &mut self,
        simd: impl Simd,
        row: usize,
        pixels: &[[S; L]],
        planes: &mut [TensorSliceMut<'_, S>],
    ) {
        simd.vectorize(WriteRow {
            writer: self,
            row,
            pixels,
            planes,
        });
    }

    /// Writes the elements below the last row of sums.
    pub fn finish(&mut self, planes: &mut [TensorSliceMut<'_, S>]) {
        let all = planes.first().map_or(0, TensorSliceMut::len);
        self.clear_up_to(all, planes);
    }

    /// Writes 0 to the elements up to `end` that no region reaches.
    fn clear_up_to(&self, end: usize, planes: &mut [TensorSliceMut<'_, S>]) {
        if matches!(self.earlier, Earlier::Unspecified) && self.written < end {
            for plane in planes {
                plane.get(self.written..end).clear();
            }
        }
    }
}

/// A row that is written. It is compiled once for all kernels, since `pulp` gets it separately.
struct WriteRow<'a, 'b, S: Sum, const L: usize> {
    writer: &'a mut RowWriter<S>,
    row: usize,
    pixels: &'a [[S; L]],
    planes: &'a mut [TensorSliceMut<'b, S>],
}

impl<S: Sum, const L: usize> WithSimd for WriteRow<'_, '_, S, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let Self {
            writer,
            row,
            pixels,
            planes,
        } = self;
        let count = pixels.len();
        let row = row * writer.width + writer.columns.start..row * writer.width + writer.columns.end;
        writer.clear_up_to(row.start, planes);
        writer.written = row.end;
        writer.lanes.resize(planes.len() * count);
        let lanes = writer.lanes.get_mut().as_flattened_mut();
        deinterleave(simd, pixels, lanes);
        for (plane, lane) in planes.iter_mut().zip(lanes.chunks_exact(count)) {
            let mut row = plane.get(row.clone());
            match (writer.earlier, &mut row) {
                (Earlier::Sums, TensorSliceMut::Sums(sums)) => {
                    for (sum, further) in sums.iter_mut().zip(lane) {
                        *sum = *further + *sum;
                    }
                }
                (Earlier::Sums, TensorSliceMut::Halves(..)) => {
                    unreachable!("sums that are rounded have no further ones")
                }
                _ => row.write(simd, lane),
            }
        }
    }
}
