//! A maximum over bins of whole pixels.
//!
//! The pixels of a channel are ranked by their values; of equal pixels, the first in row-major order ranks highest. The
//! highest rank of a bin then tells which pixel its gradient goes to. All bins of all regions find it in one sparse
//! table, as they find their maxima in the forward pass.

use std::cmp::Ordering;
use std::ops::Range;

use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{FloatDType, IndexingUpdateOp, IntDType, Scalar, Shape, Slice, TensorData, read_sync};
use rayon::prelude::*;

use super::call::GradientCall;
use crate::backend::fallback::channels_last::ChannelsLast;
use crate::backend::fallback::max_of_pixels::not_above;
use crate::backend::fallback::planned::{ChannelRun, Planned, Values, hull_of, runs};
use crate::backend::fallback::schedule::PoolPlan;
use crate::backend::fallback::tensors::{Sum, cast, concatenate, cut};
use crate::geometry::plan::{PixelRanges, pixel_count};

/// How many pixels, and how many bins, of a block of channels are computed together at most: 16 MiB of ranks. Several
/// tensors of this size exist at a time.
const NUMBERS: usize = 2 << 20;

/// The most blocks of channels that are computed in parallel.
const MOST_BLOCKS: usize = 2;

/// More regions are computed together only if a block keeps this many channels.
const LEAST_BLOCK: usize = 64;

/// Integers up to this one are exact in f32.
const EXACT: usize = 1 << 24;

impl<B: Backend, R: Sum> GradientCall<'_, B, R> {
    /// The gradient of features of a maximum over bins.
    pub fn gradient_of_largest_pixels(&self) -> FloatTensor<B> {
        let (device, dtype): (_, FloatDType) = (self.gradient.device(), self.gradient.dtype().into());
        let mut output = B::float_zeros(Shape::new(self.shape), &device, dtype);
        for run in runs(self.planner) {
            for image in 0..self.shape[0] {
                let regions = self.planned::<PixelRanges>(&run, image, false);
                if !regions.is_empty() {
                    output = self.write_largest_pixels(output, &run, image, &regions);
                }
            }
        }
        output
    }

    /// Writes the gradient of the pixels of an image that lie in the hull of its regions.
    fn write_largest_pixels(
        &self,
        mut output: FloatTensor<B>,
        run: &ChannelRun,
        image: usize,
        regions: &[Planned<PixelRanges>],
    ) -> FloatTensor<B> {
        let window = &hull_of(regions);
        let bins = pixel_count(&run.elements);
        let channels = self.gradient.shape()[1];
        let at_once = (NUMBERS / (LEAST_BLOCK.min(channels) * bins)).clamp(1, regions.len());
        let block = NUMBERS / pixel_count(window).max(at_once * bins);
        let block = block.clamp(1, channels);
        let blocks: Vec<_> = cut(0..channels, block).collect();
        for blocks in blocks.chunks(rayon::current_num_threads().min(MOST_BLOCKS)) {
            let sums = blocks
                .par_iter()
                .map(|channels| self.sums_of_block(run, image, channels, window, regions, at_once));
            for (channels, sums) in blocks.iter().zip(sums.collect::<Vec<_>>()) {
                output = self.write(output, sums, run, image, channels, window);
            }
        }
        output
    }

    /// The gradient `[C, H, W]` of the pixels of a window. `at_once` regions are looked at together.
    fn sums_of_block(
        &self,
        run: &ChannelRun,
        image: usize,
        channels: &Range<usize>,
        window: &[Range<usize>; 2],
        regions: &[Planned<PixelRanges>],
        at_once: usize,
    ) -> FloatTensor<B> {
        let planes = self.planes(run, image, channels, window);
        let start = self.values.start;
        let ranks = ranks::<B, R>(planes.clone(), start);
        // A sum for each rank of each channel, and one for empty bins.
        let sums = Shape::new([channels.len(), pixel_count(window) + 1]);
        let mut sums = B::float_zeros(sums, &self.gradient.device(), R::DTYPE);
        for regions in regions.chunks(at_once) {
            let winners = match ranks.shape()[1] <= EXACT {
                true => winners::<B, f32>(&ranks, window, regions),
                false => winners::<B, f64>(&ranks, window, regions),
            };
            let gradient = self.gradient_of_regions(regions, run, channels);
            sums = B::float_scatter(1, sums, winners, gradient, IndexingUpdateOp::Add);
        }
        let sums = B::float_gather(1, sums, ranks);
        let sums = B::float_mask_fill(sums, not_above::<B>(planes, start), Scalar::from(0.0));
        let [rows, columns] = window.each_ref().map(Range::len);
        let sums = cast::<B>(sums, self.gradient.dtype().into());
        B::float_reshape(sums, Shape::new([channels.len(), rows, columns]))
    }

    /// The pixels `[C, pixels]` of a window in the channels that output channels read.
    fn planes(
        &self,
        run: &ChannelRun,
        image: usize,
        channels: &Range<usize>,
        window: &[Range<usize>; 2],
    ) -> FloatTensor<B> {
        let features = self.features_of(run);
        let [rows, columns] = window.clone();
        let slices = [image..image + 1, channels.clone(), rows, columns].map(Slice::from);
        let planes = Shape::new([channels.len(), pixel_count(window)]);
        cast::<B>(B::float_reshape(B::float_slice(features, &slices), planes), R::DTYPE)
    }

    /// The gradient `[C, regions * bins]` of the output.
    fn gradient_of_regions(
        &self,
        regions: &[Planned<PixelRanges>],
        run: &ChannelRun,
        channels: &Range<usize>,
    ) -> FloatTensor<B> {
        let of_bins = Shape::new([channels.len(), pixel_count(&run.elements)]);
        let of_region = |region: &Planned<_>| {
            let [rows, columns] = run.elements.clone();
            let slices = [region.row..region.row + 1, channels.clone(), rows, columns].map(Slice::from);
            B::float_reshape(B::float_slice(self.gradient.clone(), &slices), of_bins.clone())
        };
        cast::<B>(concatenate::<B>(regions.iter().map(of_region).collect(), 1), R::DTYPE)
    }
}

/// The rank of each pixel of `[C, pixels]` in its channel: larger pixels rank higher, and of equal pixels the first
/// does. The host sorts each channel once. With tensors it takes two sorts, since equal pixels come in any order.
fn ranks<B: Backend, R: Sum>(planes: FloatTensor<B>, start: f64) -> IntTensor<B> {
    let (device, shape) = (planes.device(), planes.shape());
    let planes = B::float_mask_fill(planes.clone(), not_above::<B>(planes, start), Scalar::from(start));
    let data = read_sync(B::float_into_data(planes)).expect("the device should answer with the tensor's data");
    let values: &[R] = data.as_slice().expect("the planes should have the dtype of sums");
    let mut ranks = vec![0i64; values.len()];
    let channels = ranks.par_chunks_mut(shape[1]).zip(values.par_chunks(shape[1]));
    channels.for_each(|(ranks, values)| {
        let mut pixels: Vec<(R, usize)> = values.iter().copied().zip(0..).collect();
        pixels.sort_unstable_by(|one, other| {
            let values = one.0.partial_cmp(&other.0).unwrap_or(Ordering::Equal);
            values.then(other.1.cmp(&one.1))
        });
        for (rank, (_, pixel)) in pixels.into_iter().enumerate() {
            ranks[pixel] = rank as i64;
        }
    });
    B::int_from_data(TensorData::new(ranks, shape), &device)
}

/// The highest rank `[C, regions * bins]` of each bin; for an empty one, the number of pixels, which is no rank.
fn winners<B: Backend, N: Sum>(
    ranks: &IntTensor<B>,
    window: &[Range<usize>; 2],
    regions: &[Planned<PixelRanges>],
) -> IntTensor<B> {
    let [channels, pixels] = ranks.shape().dims();
    let [rows, columns] = window.clone();
    let ranks = B::int_into_float(ranks.clone(), N::DTYPE);
    let ranks = B::float_reshape(B::float_swap_dims(ranks, 0, 1), Shape::new([pixels * channels]));
    let ranks = ChannelsLast::<B> {
        tensor: B::float_reshape(ranks, Shape::new([rows.len(), columns.len(), channels])),
        rows,
        columns,
        channels,
    };
    let values = Values {
        start: 0.0,
        outside: pixels as f64,
    };
    let winners = PoolPlan::<N>::pool(values, &ranks, regions);
    let all = winners.shape()[0] * winners.shape()[1];
    let winners = B::float_swap_dims(B::float_reshape(winners, Shape::new([all, channels])), 0, 1);
    B::float_into_int(B::float_reshape(winners, Shape::new([channels, all])), IntDType::I64)
}
