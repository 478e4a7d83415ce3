//! Features as slices.

use std::ops::Range;

use burn_flex::FlexTensor;

use super::tile::Rows;
use crate::backend::flex::numbers::{Numbers, Sum};

/// Features `[N, C, H, W]` whose rows are contiguous.
pub struct Features<'a, S> {
    numbers: Numbers<'a, S>,
    start: isize,
    strides: [isize; 3],
}

/// One channel of one image, in numbers of the type of sums.
#[derive(Clone, Copy)]
pub struct Plane<'a, S> {
    numbers: &'a [S],
    start: isize,
    stride: isize,
}

impl<'a, S: Sum> Features<'a, S> {
    /// Features whose rows are contiguous; see [`with_contiguous_rows`].
    pub fn new(tensor: &'a FlexTensor) -> Self {
        let layout = tensor.layout();
        let strides = layout.strides();
        Self {
            numbers: Numbers::of(tensor),
            start: layout.start_offset() as isize,
            strides: [strides[0], strides[1], strides[2]],
        }
    }

    pub fn numbers(&self) -> Numbers<'a, S> {
        self.numbers
    }

    /// Where a channel of an image begins among the numbers.
    #[inline(always)]
    pub fn start(&self, image: usize, channel: usize) -> isize {
        let [of_image, of_channel, _] = self.strides;
        self.start + image as isize * of_image + channel as isize * of_channel
    }

    /// How far apart rows are.
    pub fn stride(&self) -> isize {
        self.strides[2]
    }

    /// One channel of one image, which is its own window of one channel, where it needs no conversion.
    pub fn plane(&self, image: usize, channel: usize) -> Option<Plane<'a, S>> {
        let Numbers::Sums(numbers) = self.numbers else {
            return None;
        };
        Some(Plane {
            numbers,
            start: self.start(image, channel),
            stride: self.stride(),
        })
    }
}

impl<S: Sum> Rows<S, 1> for Plane<'_, S> {
    #[inline(always)]
    fn row(&self, row: usize, columns: Range<usize>) -> &[[S; 1]] {
        let start = (self.start + row as isize * self.stride) as usize;
        self.numbers[start + columns.start..start + columns.end].as_chunks().0
    }
}

/// The tensor, copied where its rows are not contiguous.
pub fn with_contiguous_rows(tensor: FlexTensor) -> FlexTensor {
    let layout = tensor.layout();
    if layout.strides()[3] == 1 || layout.shape()[3] == 1 {
        return tensor;
    }
    tensor.to_contiguous()
}
