//! A maximum over samples: all samples at once as `S_y · F · S_xᵀ`, then their maxima.

use std::ops::Range;

use burn::backend::Backend;
use burn::backend::tensor::FloatTensor;
use burn::tensor::{Scalar, Shape, Slice};

use super::channels_last::ChannelsLast;
use super::matrices::{product, sample_matrices};
use super::max_of_pixels::larger;
use super::planned::{PlannedGroup, Values};
use super::schedule::PoolPlan;
use super::tensors::{Number, concatenate, cut};
use crate::geometry::plan::{AxisPlan, SampleTaps};

/// How many numbers the samples of a block hold at most, 16 MiB of f32. A few tensors of this size exist at a time, and
/// a call may take 256 MiB beyond its input and output.
const BLOCK: usize = 4 << 20;

impl<R: Number> PoolPlan<R> for SampleTaps<R> {
    fn pool<B: Backend>(values: Values, pixels: &ChannelsLast<B>, regions: &[PlannedGroup<Self>]) -> FloatTensor<B> {
        let [y, x] = &regions[0].plan;
        let (rows, columns) = (y.count(), x.count());
        let in_bounds = [elements_in_bounds(y), elements_in_bounds(x)];
        let [height, width] = in_bounds.each_ref().map(Range::len);
        let mut maxima = maxima_of_samples(pixels, y, x, &in_bounds);
        let least = lower_bounds(values, [y, x], in_bounds.each_ref());
        if least.iter().any(|&value| value.into() > f64::NEG_INFINITY) {
            let least = pixels.constant(least, [height, width, 1]);
            let shape = Shape::new([height, width, pixels.channels]);
            maxima = larger::<B>(maxima, B::float_expand(least, shape));
        }
        if height < rows || width < columns {
            // Elements without a sample in bounds keep the out-of-bounds value.
            let shape = Shape::new([rows, columns, pixels.channels]);
            let all = B::float_full(shape, Scalar::from(values.outside), &pixels.device(), R::DTYPE);
            let [rows, columns] = in_bounds;
            maxima = B::float_slice_assign(all, &[rows, columns, 0..pixels.channels].map(Slice::from), maxima);
        }
        B::float_reshape(maxima, Shape::new([1, rows * columns, pixels.channels]))
    }
}

/// The lower bound of each element's maximum: its start, or the out-of-bounds value if a sample is out of bounds.
pub fn lower_bounds<R: Number>(
    Values { start, outside }: Values,
    [y, x]: [&SampleTaps<R>; 2],
    [rows, columns]: [&Range<usize>; 2],
) -> Vec<R> {
    let row_bounds = |row: usize| {
        columns.clone().map(move |column| {
            let complete = y.complete[row] && x.complete[column];
            R::from_f64(if complete { start } else { outside })
        })
    };
    rows.clone().flat_map(row_bounds).collect()
}

/// The output elements that have a sample in bounds. Positions are monotonic, so they are one run.
pub fn elements_in_bounds<R>(axis: &SampleTaps<R>) -> Range<usize> {
    let in_bounds = |samples: &Range<usize>| !samples.is_empty();
    let first = axis.samples.iter().position(in_bounds);
    let last = axis.samples.iter().rposition(in_bounds);
    first.zip(last).map_or(0..0, |(first, last)| first..last + 1)
}

/// The most samples in bounds of an element.
pub fn most_samples<R>(axis: &SampleTaps<R>) -> usize {
    axis.samples.iter().map(Range::len).max().unwrap_or(0)
}

/// The maxima `[P, Q, C]` of the samples in bounds of elements. They are computed in blocks, so that no intermediate
/// tensor is larger than [`BLOCK`].
fn maxima_of_samples<B: Backend, R: Number>(
    pixels: &ChannelsLast<B>,
    y: &SampleTaps<R>,
    x: &SampleTaps<R>,
    [rows, columns]: &[Range<usize>; 2],
) -> FloatTensor<B> {
    let (samples_y, samples_x, channels) = (most_samples(y), most_samples(x), pixels.channels);
    let row_block = BLOCK / (samples_y * channels * (x.window().len() + samples_x * samples_y));
    let row_block = row_block.clamp(1, rows.len());
    let column_block = BLOCK / (row_block * samples_y * samples_x * channels);
    let column_block = column_block.clamp(1, columns.len());

    let block_maxima = |rows: &Range<usize>, columns: Range<usize>| {
        let (axis_y, axis_x) = (
            sample_matrices(y, rows, samples_y),
            sample_matrices(x, &columns, samples_x),
        );
        let samples = product(pixels, [&axis_y, &axis_x], &axis_y.weights, &axis_x.weights);
        let shape = Shape::new([rows.len(), samples_y, columns.len() * samples_x * channels]);
        let along_y = B::float_max_dim(B::float_reshape(samples, shape), 1);
        let shape = Shape::new([rows.len(), columns.len(), samples_x, channels]);
        let maxima = B::float_max_dim(B::float_reshape(along_y, shape), 2);
        B::float_reshape(maxima, Shape::new([rows.len(), columns.len(), channels]))
    };
    let row_maxima = |rows: Range<usize>| {
        let blocks = cut(columns.clone(), column_block).map(|columns| block_maxima(&rows, columns));
        concatenate::<B>(blocks.collect(), 1)
    };
    concatenate::<B>(cut(rows.clone(), row_block).map(row_maxima).collect(), 0)
}
