//! Tensors as slices, a plane for each channel of an image.

use std::ops::Range;

use burn_flex::FlexTensor;

use crate::backend::flex::dtype::{Sum, TensorSlice};
use crate::backend::flex::memory::AlignedPixels;
use crate::backend::flex::simd::prefetch;

/// Rows of pixels, each of `L` channels, for a window of the map.
pub trait Rows<S, const L: usize> {
    /// Pixels of a row of the map.
    fn row(&self, row: usize, columns: Range<usize>) -> &[[S; L]];
}

impl<S, const L: usize, R: Rows<S, L>> Rows<S, L> for &R {
    #[inline(always)]
    fn row(&self, row: usize, columns: Range<usize>) -> &[[S; L]] {
        (**self).row(row, columns)
    }
}

/// The planes of features `[N, C, H, W]`, or of a gradient `[K, channels, 1, P * Q]`. Rows are contiguous.
pub struct Planes<'a, S> {
    pub(super) elements: TensorSlice<'a, S>,
    start: isize,
    /// From an image, a channel and a row to the next.
    pub(super) strides: [isize; 3],
}

/// One channel of one image, in the type of sums.
pub struct Plane<'a, S> {
    elements: &'a [S],
    start: isize,
    stride: isize,
}

impl<'a, S: Sum> Planes<'a, S> {
    /// The planes of a tensor from [`with_contiguous_rows`].
    pub fn new(tensor: &'a FlexTensor) -> Self {
        let layout = tensor.layout();
        let strides = layout.strides();
        Self {
            elements: TensorSlice::of(tensor),
            start: layout.start_offset() as isize,
            strides: [strides[0], strides[1], strides[2]],
        }
    }

    /// The index of a plane's first element.
    #[inline(always)]
    pub fn start(&self, image: usize, channel: usize) -> isize {
        let [image_stride, channel_stride, _] = self.strides;
        self.start + image as isize * image_stride + channel as isize * channel_stride
    }

    /// Fetches columns of the first row of some channels into the nearest cache.
    #[inline(always)]
    pub fn prefetch(&self, image: usize, channels: &Range<usize>, columns: &Range<usize>) {
        for channel in channels.clone() {
            let start = self.start(image, channel) as usize;
            let elements = start + columns.start..start + columns.end;
            match self.elements {
                TensorSlice::Sums(sums) => prefetch(&sums[elements]),
                TensorSlice::Halves(_, bits) => prefetch(&bits[elements]),
            }
        }
    }

    /// One channel of a window: its plane, to be read as it is, or a copy of elements of 16 bits in `memory`.
    pub fn plane<'b>(
        &'b self,
        image: usize,
        channel: usize,
        [rows, columns]: &[Range<usize>; 2],
        memory: &'b mut AlignedPixels<S, 1>,
    ) -> Plane<'b, S> {
        let (start, stride) = (self.start(image, channel), self.strides[2]);
        let (half, bits) = match self.elements {
            TensorSlice::Sums(elements) => {
                return Plane {
                    elements,
                    start,
                    stride,
                };
            }
            TensorSlice::Halves(half, bits) => (half, bits),
        };
        let width = columns.len();
        memory.resize(rows.len() * width);
        let copies = memory.get_mut().as_flattened_mut().chunks_exact_mut(width.max(1));
        for (row, copy) in rows.clone().zip(copies) {
            let first = (start + row as isize * stride) as usize + columns.start;
            S::widen(half, &bits[first..first + width], copy);
        }
        Plane {
            elements: memory.get().as_flattened(),
            start: -((rows.start * width + columns.start) as isize),
            stride: width as isize,
        }
    }
}

impl<S: Sum> Rows<S, 1> for Plane<'_, S> {
    #[inline(always)]
    fn row(&self, row: usize, columns: Range<usize>) -> &[[S; 1]] {
        let start = (self.start + row as isize * self.stride + columns.start as isize) as usize;
        self.elements[start..start + columns.len()].as_chunks().0
    }
}

/// The tensor, copied if its rows are not contiguous.
pub fn with_contiguous_rows(tensor: FlexTensor) -> FlexTensor {
    let layout = tensor.layout();
    if layout.strides()[3] == 1 || layout.shape()[3] == 1 {
        return tensor;
    }
    tensor.to_contiguous()
}
