//! A copy of a window of an image with channels last, so that its rows are long runs of memory.

use std::ops::Range;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{Shape, Slice, TensorData};

use super::tensors::{Number, cast, place};
use crate::geometry::plan::ChannelGroup;

/// Pixels `[H, W, C]` of a window of an image, in the dtype of sums.
pub struct ChannelsLast<B: Backend> {
    pub tensor: FloatTensor<B>,
    pub window: [Range<usize>; 2],
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
        let count = output_channels.len();
        let [height, width] = window.each_ref().map(Range::len);
        let planes = B::float_slice(features.clone(), &place(image, group, output_channels, window));
        let planes = B::float_permute(cast::<B>(planes, R::DTYPE), &[0, 2, 3, 1]);
        // Assigned, since NdArray reshapes swapped axes element by element: box-p2 takes 127 ms, and 136 ms otherwise.
        let pixels = B::float_zeros(Shape::new([1, height, width, count]), &features.device(), R::DTYPE);
        let pixels = B::float_slice_assign(pixels, &[Slice::full(); 4], planes);
        Self {
            tensor: B::float_reshape(pixels, Shape::new([height, width, count])),
            window: window.clone(),
            channels: count,
        }
    }

    /// The pixels `[H, W, C]` of a window within.
    pub fn window(&self, window: [&Range<usize>; 2]) -> FloatTensor<B> {
        B::float_slice(self.tensor.clone(), &within(window, &self.window))
    }

    pub fn device(&self) -> B::Device {
        self.tensor.device()
    }

    /// A tensor of values computed on the host.
    pub fn constant<R: Number, const D: usize>(&self, values: Vec<R>, shape: [usize; D]) -> FloatTensor<B> {
        B::float_from_data(TensorData::new(values, shape), &self.device())
    }
}

/// Where a window lies in a larger one, in a tensor `[H, W, C]`.
pub fn within(window: [&Range<usize>; 2], larger: &[Range<usize>; 2]) -> [Slice; 3] {
    let [rows, columns] = [0, 1].map(|axis| {
        let origin = larger[axis].start;
        Slice::from(window[axis].start - origin..window[axis].end - origin)
    });
    [rows, columns, Slice::full()]
}
