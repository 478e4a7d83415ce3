//! Features as slices.

use std::ops::Range;

use burn_flex::FlexTensor;

use crate::backend::flex::numbers::Number;

/// Features `[N, C, H, W]` whose rows are contiguous.
pub struct Features<'a, E> {
    data: &'a [E],
    start: isize,
    strides: [isize; 3],
}

/// One channel of one image.
#[derive(Clone, Copy)]
pub struct Plane<'a, E> {
    data: &'a [E],
    start: isize,
    stride: isize,
}

impl<'a, E: Number> Features<'a, E> {
    /// Features whose rows are contiguous; see [`with_contiguous_rows`].
    pub fn new(tensor: &'a FlexTensor) -> Self {
        let layout = tensor.layout();
        let strides = layout.strides();
        Self {
            data: tensor.storage::<E>(),
            start: layout.start_offset() as isize,
            strides: [strides[0], strides[1], strides[2]],
        }
    }

    /// One channel of one image.
    pub fn plane(&self, image: usize, channel: usize) -> Plane<'a, E> {
        let [of_image, of_channel, of_row] = self.strides;
        Plane {
            data: self.data,
            start: self.start + image as isize * of_image + channel as isize * of_channel,
            stride: of_row,
        }
    }
}

impl<'a, E> Plane<'a, E> {
    /// Pixels of a row.
    #[inline(always)]
    pub fn row(&self, row: usize, columns: Range<usize>) -> &'a [E] {
        let start = (self.start + row as isize * self.stride) as usize;
        &self.data[start + columns.start..start + columns.end]
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
