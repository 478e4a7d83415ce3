//! A maximum over bins of whole pixels. The host finds the pixel that the gradient of a bin goes to: tensor operations
//! need a sort for it, with which the gradient of `vgg-roi-pool` took several times as long.

use std::ops::Range;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{TensorData, read_sync};
use rayon::prelude::*;

use super::call::GradientCall;
use crate::backend::fallback::planned::{ChannelRun, Planned, runs};
use crate::backend::fallback::tensors::{Sum, cast};
use crate::geometry::plan::PixelRanges;

impl<B: Backend, R: Sum> GradientCall<'_, B, R> {
    /// The gradient of features of a maximum over bins.
    pub fn gradient_of_largest_pixels(&self) -> FloatTensor<B> {
        let features = on_host::<B, R>(self.features.as_ref().expect("the features are read"));
        let gradient = on_host::<B, R>(&self.gradient);
        let mut sums = vec![R::default(); features.num_elements()];
        for run in runs(self.planner) {
            for image in 0..self.shape[0] {
                let regions = self.planned(&run, image, false);
                if !regions.is_empty() {
                    self.add_bins(&run, image, &regions, [&features, &gradient].map(values), &mut sums);
                }
            }
        }
        let sums = B::float_from_data(TensorData::new(sums, self.shape), &self.gradient.device());
        cast::<B>(sums, self.gradient.dtype().into())
    }

    /// Adds the gradient of each bin to the sum of the pixel that is its maximum.
    fn add_bins(
        &self,
        run: &ChannelRun,
        image: usize,
        regions: &[Planned<PixelRanges>],
        [features, gradient]: [&[R]; 2],
        sums: &mut [R],
    ) {
        let [_, inputs, height, width] = self.shape;
        let [_, channels, rows, columns] = self.gradient.shape().dims();
        let start = self.planner.maximum_from();
        let skipped = image * inputs + run.first_channel;
        let planes = sums
            .par_chunks_mut(height * width)
            .zip(features.par_chunks(height * width));
        let planes = planes.skip(skipped).step_by(inputs / channels).take(channels);
        planes.enumerate().for_each(|(channel, (sums, plane))| {
            for region in regions {
                let elements = &gradient[(region.row * channels + channel) * rows * columns..][..rows * columns];
                for (row, bin_rows) in run.elements[0].clone().zip(&region.plan[0]) {
                    for (column, bin_columns) in run.elements[1].clone().zip(&region.plan[1]) {
                        if let Some(pixel) = first_largest(plane, width, [bin_rows, bin_columns], start) {
                            sums[pixel] += elements[row * columns + column];
                        }
                    }
                }
            }
        });
    }
}

/// The first pixel of a bin, row by row, with the largest value; `None` if none is above `start`.
fn first_largest<R: Sum>(plane: &[R], width: usize, [rows, columns]: [&Range<usize>; 2], start: R) -> Option<usize> {
    // The columns of an empty bin may lie outside.
    if columns.is_empty() {
        return None;
    }
    let (mut largest, mut pixel) = (start, None);
    for row in rows.clone() {
        let first = row * width + columns.start;
        for (index, &value) in (first..).zip(&plane[first..first + columns.len()]) {
            if value > largest {
                (largest, pixel) = (value, Some(index));
            }
        }
    }
    pixel
}

fn on_host<B: Backend, R: Sum>(tensor: &FloatTensor<B>) -> TensorData {
    let tensor = cast::<B>(tensor.clone(), R::DTYPE);
    read_sync(B::float_into_data(tensor)).expect("the device should answer with the tensor's data")
}

fn values<R: Sum>(data: &TensorData) -> &[R] {
    data.as_slice().expect("the tensor should have the dtype of sums")
}
