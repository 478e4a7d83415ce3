//! A maximum over samples: all samples at once as `S_y · F · S_xᵀ`, then their maxima.

use std::ops::Range;

use burn::backend::Backend;
use burn::backend::tensor::FloatTensor;
use burn::tensor::{Scalar, Shape, Slice};

use super::max_of_pixels::larger;
use super::{ChannelsLast, Kernel, Sum, concatenate};
use crate::geometry::plan::{AxisPlan, Planner, SampleTaps, Taps};

/// How many numbers the samples of a block hold at most, 16 MiB of f32. A few tensors as large are alive at
/// once, and a call may take 256 MiB beyond its input and output.
const BLOCK: usize = 4 << 20;

/// A maximum over samples.
pub struct MaxOfSamples {
    /// The number that a maximum starts from.
    start: f64,
    outside: f64,
}

impl MaxOfSamples {
    pub fn new<R: Sum>(planner: &Planner<R>) -> Self {
        Self {
            start: planner.maximum_from().into(),
            outside: planner.value_without_pixels(),
        }
    }

    /// One region, `[1, P * Q, C]`.
    fn maximum<B: Backend, R: Sum>(&self, pixels: &ChannelsLast<B>, [y, x]: &[SampleTaps<R>; 2]) -> FloatTensor<B> {
        let (rows, columns) = (y.samples.len(), x.samples.len());
        let (rows_in_bounds, columns_in_bounds) = (elements_in_bounds(y), elements_in_bounds(x));
        let mut maxima = maxima_of_samples(pixels, y, x, &rows_in_bounds, &columns_in_bounds);
        if let Some(least) = self.least_values(y, x, &rows_in_bounds, &columns_in_bounds) {
            let shape = Shape::new([rows_in_bounds.len(), columns_in_bounds.len(), pixels.channels]);
            let least = pixels.constant(least, [rows_in_bounds.len(), columns_in_bounds.len(), 1]);
            maxima = larger::<B>(maxima, B::float_expand(least, shape));
        }
        if rows_in_bounds.len() < rows || columns_in_bounds.len() < columns {
            // Elements without a sample in bounds keep the out-of-bounds value.
            let shape = Shape::new([rows, columns, pixels.channels]);
            let value = Scalar::from(self.outside);
            let all = B::float_full(shape, value, &pixels.device(), R::DTYPE);
            let slices = [rows_in_bounds, columns_in_bounds, 0..pixels.channels].map(Slice::from);
            maxima = B::float_slice_assign(all, &slices, maxima);
        }
        B::float_reshape(maxima, Shape::new([1, rows * columns, pixels.channels]))
    }

    /// What each element in bounds is at least: where a maximum starts, and the out-of-bounds value where
    /// one of its samples is out of bounds; none where that says nothing.
    fn least_values<R: Sum>(
        &self,
        y: &SampleTaps<R>,
        x: &SampleTaps<R>,
        rows: &Range<usize>,
        columns: &Range<usize>,
    ) -> Option<Vec<R>> {
        let values = |row: usize| {
            columns.clone().map(move |column| {
                let complete = y.complete[row] && x.complete[column];
                R::from_f64(if complete { self.start } else { self.outside })
            })
        };
        let values: Vec<R> = rows.clone().flat_map(values).collect();
        let says_something = values.iter().any(|&value| value.into() > f64::NEG_INFINITY);
        says_something.then_some(values)
    }
}

impl<R: Sum> Kernel<R> for MaxOfSamples {
    type Plan = SampleTaps<R>;

    const AT_ONCE: bool = false;

    fn compute<B: Backend>(&self, pixels: &ChannelsLast<B>, plans: &[[SampleTaps<R>; 2]]) -> FloatTensor<B> {
        let parts = plans.iter().map(|plan| self.maximum(pixels, plan));
        concatenate::<B>(parts.collect(), 0)
    }
}

/// The output elements that have a sample in bounds. Positions never turn back, so they are one run.
pub fn elements_in_bounds<R>(axis: &SampleTaps<R>) -> Range<usize> {
    let in_bounds = |samples: &Range<usize>| !samples.is_empty();
    let first = axis.samples.iter().position(in_bounds);
    let last = axis.samples.iter().rposition(in_bounds);
    first.zip(last).map_or(0..0, |(first, last)| first..last + 1)
}

/// The maxima `[P, Q, C]` of the samples in bounds of elements, in blocks that no intermediate tensor
/// passes [`BLOCK`] for.
fn maxima_of_samples<B: Backend, R: Sum>(
    pixels: &ChannelsLast<B>,
    y: &SampleTaps<R>,
    x: &SampleTaps<R>,
    rows: &Range<usize>,
    columns: &Range<usize>,
) -> FloatTensor<B> {
    let most = |axis: &SampleTaps<R>| axis.samples.iter().map(Range::len).max().unwrap_or(0);
    let (samples_y, samples_x) = (most(y), most(x));
    let (window_y, window_x) = (y.window(), x.window());
    let (height, width, channels) = (window_y.len(), window_x.len(), pixels.channels);
    let window = pixels.window(&window_y, &window_x);
    let window = B::float_reshape(window, Shape::new([height, width * channels]));

    let row_block = BLOCK / (samples_y * channels * (width + samples_x * samples_y));
    let row_block = row_block.clamp(1, rows.len());
    let column_block = BLOCK / (row_block * samples_y * samples_x * channels);
    let column_block = column_block.clamp(1, columns.len());

    let of_rows = |rows: Range<usize>| {
        let count = rows.len() * samples_y;
        let matrix = pixels.constant(dense(y, &rows, samples_y, &window_y), [count, height]);
        let along_y = B::float_matmul(matrix, window.clone());
        let along_y = B::float_reshape(along_y, Shape::new([count, width, channels]));
        let of_columns = |columns: Range<usize>| {
            let across = columns.len() * samples_x;
            let matrix = dense(x, &columns, samples_x, &window_x);
            let matrix = pixels.constant(matrix, [1, across, width]);
            let samples = B::float_matmul(matrix, along_y.clone());
            let shape = Shape::new([rows.len(), samples_y, across * channels]);
            let along_y = B::float_max_dim(B::float_reshape(samples, shape), 1);
            let shape = Shape::new([rows.len(), columns.len(), samples_x, channels]);
            let maxima = B::float_max_dim(B::float_reshape(along_y, shape), 2);
            B::float_reshape(maxima, Shape::new([rows.len(), columns.len(), channels]))
        };
        concatenate::<B>(cut(columns, column_block).map(of_columns).collect(), 1)
    };
    concatenate::<B>(cut(rows, row_block).map(of_rows).collect(), 0)
}

/// A range in pieces of `block`.
pub fn cut(range: &Range<usize>, block: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range
        .clone()
        .step_by(block)
        .map(move |start| start..(start + block).min(end))
}

/// The taps of elements as a matrix `[elements * samples, window]`. An element that has fewer samples
/// repeats its last one, which changes no maximum.
fn dense<R: Sum>(axis: &SampleTaps<R>, elements: &Range<usize>, samples: usize, window: &Range<usize>) -> Vec<R> {
    let mut matrix = vec![R::default(); elements.len() * samples * window.len()];
    let mut rows = matrix.chunks_exact_mut(window.len());
    for element in elements.clone() {
        let taps: &[Taps<R>] = &axis.taps[axis.samples[element].clone()];
        for sample in 0..samples {
            let taps = taps[sample.min(taps.len() - 1)];
            let row = rows.next().expect("a row for each sample of each element");
            // Where both taps are one pixel, the first has all of the weight.
            row[taps.high - window.start] = taps.high_weight;
            row[taps.low - window.start] = taps.low_weight;
        }
    }
    matrix
}
