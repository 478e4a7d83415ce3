//! Rows of the output in blocks: reduced along y one by one, then along x together.
//!
//! How many pixels an element reads differs from element to element, and the processor mispredicts where such a short
//! loop ends. One loop for several rows ends once for all of them, and loads a weight once.

use std::ops::Range;

use pulp::Simd;

use super::along_y::Reduced;
use crate::backend::flex::dtype::Sum;

/// The most rows that are computed together: their sums stay in the 16 registers of AVX2.
const LARGEST_BLOCK: usize = 8;

/// The most pixels in such rows, 16 KiB of f32: the nearest cache also holds pixels of the window.
const LARGEST_ROWS: usize = 512;

/// How many pixels of memory rows of so many columns take: at least one row.
#[inline(always)]
pub fn pixels_along_y(columns: usize) -> usize {
    // Without a division, which took 6 % of ps-rfcn.
    (LARGEST_BLOCK * columns).min(LARGEST_ROWS.max(columns))
}

/// A kernel that reduces the window along y, and the result along x.
pub trait Reduction<S: Sum, const L: usize> {
    /// How many elements an output row has.
    fn width(&self) -> usize;

    /// Reduces the window along y for an output row.
    fn along_y(&mut self, output_row: usize, reduced: Reduced<'_, S, L>);

    /// Computes `N` rows of the output from `first` on, one after another in `output`. `pixels` are the window's,
    /// reduced along y for each of these rows.
    fn along_x<const N: usize>(&self, simd: impl Simd, first: usize, pixels: &[[[S; L]; N]], output: &mut [[S; L]]);
}

/// Computes rows of the output. `memory` has room for at least one row of the window's `columns`.
#[inline(always)]
pub fn in_blocks<S: Sum, const L: usize>(
    simd: impl Simd,
    reduction: &mut impl Reduction<S, L>,
    output_rows: Range<usize>,
    columns: usize,
    memory: &mut [[S; L]],
    output: &mut [[S; L]],
) {
    // Each block size is compiled for each kernel. A single channel is rare, and so is f64, the type of the keys of
    // RoiPool's gradient.
    let largest = match (L, size_of::<S>()) {
        (1, _) => 1,
        (_, 4) => LARGEST_BLOCK,
        _ => LARGEST_BLOCK - 1,
    };
    let most = (memory.len() / columns.max(1)).clamp(1, largest);
    let mut first = output_rows.start;
    while first < output_rows.end {
        let rows = block_of(output_rows.end - first, most);
        let pixels = &mut memory[..rows * columns];
        for index in 0..rows {
            let reduced = Reduced {
                pixels,
                columns,
                rows,
                index,
            };
            reduction.along_y(first + index, reduced);
        }
        let output = &mut output[(first - output_rows.start) * reduction.width()..];
        // Constants, so that code that they exclude is not compiled.
        if const { L == 1 } {
            reduction.along_x::<1>(simd, first, pixels.as_chunks().0, output);
        } else if const { size_of::<S>() == size_of::<f32>() } && rows == 8 {
            reduction.along_x::<8>(simd, first, pixels.as_chunks().0, output);
        } else {
            match rows {
                7 => reduction.along_x::<7>(simd, first, pixels.as_chunks().0, output),
                4 => reduction.along_x::<4>(simd, first, pixels.as_chunks().0, output),
                2 => reduction.along_x::<2>(simd, first, pixels.as_chunks().0, output),
                _ => reduction.along_x::<1>(simd, first, pixels.as_chunks().0, output),
            }
        }
        first += rows;
    }
}

/// The size of the next block, at most `most`, of the rows that are left. Outputs usually have 7 or 14 rows.
#[inline(always)]
fn block_of(left: usize, most: usize) -> usize {
    match (left, most) {
        (7 | 14, 7..) => 7,
        (8.., 8..) => 8,
        (4.., 4..) => 4,
        (2.., 2..) => 2,
        _ => 1,
    }
}
