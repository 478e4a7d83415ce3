//! Tensors as slices, a plane for each channel of an image.

use std::ops::Range;

use burn_flex::FlexTensor;

use crate::backend::flex::dtype::{Sum, TensorSlice};

/// Rows of pixels, each of `L` channels, for a window of the map.
pub trait Rows<S, const L: usize> {
    /// Pixels of a row of the map.
    fn row(&self, row: usize, columns: Range<usize>) -> &[[S; L]];
}

/// The planes of features `[N, C, H, W]`, or of a gradient `[K, channels, 1, P * Q]`. Rows are contiguous.
pub struct Planes<'a, S> {
    elements: TensorSlice<'a, S>,
    start: isize,
    strides: [isize; 3],
}

/// One channel of one image, in the type of sums.
#[derive(Clone, Copy)]
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

    pub fn elements(&self) -> TensorSlice<'a, S> {
        self.elements
    }

    /// The index of a plane's first element.
    #[inline(always)]
    pub fn start(&self, image: usize, channel: usize) -> isize {
        let [image_stride, channel_stride, _] = self.strides;
        self.start + image as isize * image_stride + channel as isize * channel_stride
    }

    pub fn stride(&self) -> isize {
        self.strides[2]
    }

    /// A plane, to be read as it is, if it needs no conversion.
    pub fn plane(&self, image: usize, channel: usize) -> Option<Plane<'a, S>> {
        let TensorSlice::Sums(elements) = self.elements else {
            return None;
        };
        Some(Plane {
            elements,
            start: self.start(image, channel),
            stride: self.stride(),
        })
    }
}

impl<S: Sum> Rows<S, 1> for Plane<'_, S> {
    #[inline(always)]
    fn row(&self, row: usize, columns: Range<usize>) -> &[[S; 1]] {
        let start = (self.start + row as isize * self.stride) as usize;
        self.elements[start + columns.start..start + columns.end].as_chunks().0
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
