//! A copy of a window of an image with channels last, so that its rows are long runs of memory.

use std::ops::Range;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{Shape, Slice, TensorData};

use super::tensors::{Number, cast, place};
use crate::geometry::plan::{ChannelGroup, pixel_count};

/// Pixels `[H, W, C]` of a window of an image, in the dtype of sums.
pub struct ChannelsLast<B: Backend> {
    pub tensor: FloatTensor<B>,
    pub rows: Range<usize>,
    pub columns: Range<usize>,
    pub channels: usize,
}

impl<B: Backend> ChannelsLast<B> {
    /// The channels that output channels read in a group of elements.
    pub fn copy<R: Number>(
        features: &FloatTensor<B>,
        image: usize,
        group: &ChannelGroup,
        output_channels: &Range<usize>,
        window: &[Range<usize>; 2],
    ) -> Self {
        let (area, count) = (pixel_count(window), output_channels.len());
        let [rows, columns] = window.clone();
        let window = B::float_slice(features.clone(), &place(image, group, output_channels, window));
        let planes = B::float_reshape(window, Shape::new([count, area]));
        let planes = B::float_swap_dims(cast::<B>(planes, R::DTYPE), 0, 1);
        // Assigned, since NdArray reshapes swapped axes element by element: box-p2 takes 127 ms, and 136 ms otherwise.
        let pixels = B::float_zeros(Shape::new([area, count]), &features.device(), R::DTYPE);
        let pixels = B::float_slice_assign(pixels, &[Slice::full(), Slice::full()], planes);
        Self {
            tensor: B::float_reshape(pixels, Shape::new([rows.len(), columns.len(), count])),
            rows,
            columns,
            channels: count,
        }
    }

    /// The pixels `[H, W, C]` of a window within.
    pub fn window(&self, rows: &Range<usize>, columns: &Range<usize>) -> FloatTensor<B> {
        let within = |range: &Range<usize>, origin: usize| range.start - origin..range.end - origin;
        let slices = [
            within(rows, self.rows.start),
            within(columns, self.columns.start),
            0..self.channels,
        ];
        B::float_slice(self.tensor.clone(), &slices.map(Slice::from))
    }

    pub fn device(&self) -> B::Device {
        self.tensor.device()
    }

    /// A tensor of values computed on the host.
    pub fn constant<R: Number, const D: usize>(&self, values: Vec<R>, shape: [usize; D]) -> FloatTensor<B> {
        B::float_from_data(TensorData::new(values, shape), &self.device())
    }
}
