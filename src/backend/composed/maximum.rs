//! The maximum over samples: all samples at once as `S_y · F · S_xᵀ`, then their maxima.

use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{Shape, Slice};
use std::ops::Range;

use super::{BLOCK, Call, Sum, concatenate, read};
use crate::geometry::convention::{Reduction, RegionSamples};
use crate::geometry::plan::{Samples, WeightedTaps};

pub(super) fn sample<B: Backend, R: Sum>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    sampling: &RegionSamples,
) -> FloatTensor<B> {
    let regions = read::<B, R>(&features, boxes, batch_indices, sampling.columns);
    let call = Call::<B>::new(features, sampling.output_size);
    let [rows, columns] = sampling.output_size;
    let [height, width] = call.map;
    let (rule_y, rule_x) = (R::axis_rule(&sampling.y), R::axis_rule(&sampling.x));
    let (mut y, mut x) = (Samples::default(), Samples::default());
    let apart = sampling.reduction == Reduction::MaxOfWeightedCorners;
    let outside = match sampling.reduction {
        Reduction::MaxFromZero => sampling.out_of_bounds_value.max(0.0),
        _ => sampling.out_of_bounds_value,
    };

    call.collect(&regions, |region| {
        let Some(image) = region.image else {
            return call.full::<R>(call.channels, outside);
        };
        R::sample(&rule_y, region.y, rows, height, apart, &mut y);
        R::sample(&rule_x, region.x, columns, width, apart, &mut x);
        maximum::<B, R>(&call, image, &y, &x, sampling, outside)
    })
}

/// One region, `[C, P, Q]`.
fn maximum<B: Backend, R: Sum>(
    call: &Call<B>,
    image: usize,
    y: &Samples<R>,
    x: &Samples<R>,
    sampling: &RegionSamples,
    outside: f64,
) -> FloatTensor<B> {
    let (rows, columns) = (visible_elements(y), visible_elements(x));
    if rows.is_empty() || columns.is_empty() {
        return call.full::<R>(call.channels, outside);
    }
    let least = least_values(y, x, &rows, &columns, sampling, outside);
    let blocks = Blocks::new(y, x, &rows, &columns);

    call.by_channels(blocks.channels, |channels| {
        let count = channels.len();
        let window = call.window::<R>(image, channels, y.window(), x.window());
        let mut maxima = blocks.maxima(call, window, y, x, count);
        if let Some(least) = &least {
            let least = call.constant(least.clone(), [1, rows.len(), columns.len()]);
            maxima = larger::<B>(maxima, least);
        }
        if rows.len() == call.output_size[0] && columns.len() == call.output_size[1] {
            return maxima;
        }
        // Elements without a sample in bounds keep the out-of-bounds value.
        let slices = [0..count, rows.clone(), columns.clone()].map(Slice::from);
        B::float_slice_assign(call.full::<R>(count, outside), &slices, maxima)
    })
}

/// The output elements that have a sample in bounds. Positions never turn back, so they are one run.
fn visible_elements<R>(axis: &Samples<R>) -> Range<usize> {
    let visible = |samples: &Range<usize>| !samples.is_empty();
    let first = axis.samples.iter().position(visible);
    let last = axis.samples.iter().rposition(visible);
    first
        .zip(last)
        .map_or(0..0, |(first, last)| first..last + 1)
}

/// What each visible element is at least: 0 where a maximum starts there, the out-of-bounds value
/// where one of its samples is out of bounds; none where that says nothing.
fn least_values<R: Sum>(
    y: &Samples<R>,
    x: &Samples<R>,
    rows: &Range<usize>,
    columns: &Range<usize>,
    sampling: &RegionSamples,
    outside: f64,
) -> Option<Vec<R>> {
    let anywhere = match sampling.reduction {
        Reduction::MaxFromZero => 0.0,
        _ => f64::NEG_INFINITY,
    };
    let values = |row: usize| {
        columns.clone().map(move |column| {
            let complete = y.complete[row] && x.complete[column];
            R::from_f64(if complete { anywhere } else { outside })
        })
    };
    let values: Vec<R> = rows.clone().flat_map(values).collect();
    values
        .iter()
        .any(|&value| value.into() > f64::NEG_INFINITY)
        .then_some(values)
}

/// The larger of `tensor` `[C, P, Q]` and `other` `[1, P, Q]`, element by element.
fn larger<B: Backend>(tensor: FloatTensor<B>, other: FloatTensor<B>) -> FloatTensor<B> {
    let shape: Shape = tensor.shape();
    let [channels, rows, columns] = shape.dims();
    let flat = Shape::new([channels, 1, rows * columns]);
    let other = B::float_reshape(B::float_expand(other, shape.clone()), flat.clone());
    let both = B::float_cat(vec![B::float_reshape(tensor, flat), other], 1);
    B::float_reshape(B::float_max_dim(both, 1), shape)
}

/// How a region's samples are cut so that no intermediate tensor passes [`BLOCK`].
struct Blocks {
    rows: Vec<Range<usize>>,
    columns: Vec<Range<usize>>,
    channels: usize,
    /// The largest number of samples of an element, along y and along x.
    samples: [usize; 2],
}

impl Blocks {
    fn new<R>(y: &Samples<R>, x: &Samples<R>, rows: &Range<usize>, columns: &Range<usize>) -> Self {
        let most = |axis: &Samples<R>| axis.samples.iter().map(Range::len).max().unwrap_or(0);
        let samples = [most(y), most(x)];
        let (height, width) = (y.window().len(), x.window().len());
        let column_block = BLOCK / (samples[1] * samples[0].max(height));
        let column_block = column_block.clamp(1, columns.len());
        let block_width = column_block * samples[1];
        let row_block = BLOCK / (samples[0] * block_width.max(height));
        let row_block = row_block.clamp(1, rows.len());
        let largest = (height * width)
            .max(height * block_width)
            .max(row_block * samples[0] * block_width);
        Self {
            rows: cut(rows, row_block),
            columns: cut(columns, column_block),
            channels: BLOCK / largest,
            samples,
        }
    }

    /// The maxima `[channels, P, Q]` of the visible elements.
    fn maxima<B: Backend, R: Sum>(
        &self,
        call: &Call<B>,
        window: FloatTensor<B>,
        y: &Samples<R>,
        x: &Samples<R>,
        channels: usize,
    ) -> FloatTensor<B> {
        let (window_y, window_x) = (y.window(), x.window());
        let (height, width) = (window_y.len(), window_x.len());
        let [samples_y, samples_x] = self.samples;
        let window = B::float_reshape(window, Shape::new([channels * height, width]));
        let of_columns = |columns: &Range<usize>| {
            let count = columns.len() * samples_x;
            let matrix = dense(x, columns, samples_x, &window_x);
            let matrix = B::float_swap_dims(call.constant(matrix, [count, width]), 0, 1);
            let along_x = B::float_matmul(window.clone(), matrix);
            let along_x = B::float_reshape(along_x, Shape::new([channels, height, count]));
            let of_rows = |rows: &Range<usize>| {
                let matrix = dense(y, rows, samples_y, &window_y);
                let matrix = call.constant(matrix, [1, rows.len() * samples_y, height]);
                let samples = B::float_matmul(matrix, along_x.clone());
                let (above, below) = (channels * rows.len(), columns.len() * samples_x);
                let samples = B::float_reshape(samples, Shape::new([above, samples_y, below]));
                let along_y = B::float_max_dim(samples, 1);
                let shape = Shape::new([above, columns.len(), samples_x]);
                let maxima = B::float_max_dim(B::float_reshape(along_y, shape), 2);
                B::float_reshape(maxima, Shape::new([channels, rows.len(), columns.len()]))
            };
            concatenate::<B>(self.rows.iter().map(of_rows).collect(), 1)
        };
        concatenate::<B>(self.columns.iter().map(of_columns).collect(), 2)
    }
}

/// A range in pieces of `block`.
fn cut(range: &Range<usize>, block: usize) -> Vec<Range<usize>> {
    let piece = |start: usize| start..(start + block).min(range.end);
    range.clone().step_by(block).map(piece).collect()
}

/// The taps of elements as a matrix `[elements * samples, window]`. An element that has fewer samples
/// repeats its last one, which changes no maximum.
fn dense<R: Sum>(
    axis: &Samples<R>,
    elements: &Range<usize>,
    samples: usize,
    window: &Range<usize>,
) -> Vec<R> {
    let mut matrix = vec![R::default(); elements.len() * samples * window.len()];
    let mut rows = matrix.chunks_exact_mut(window.len());
    for element in elements.clone() {
        let taps: &[WeightedTaps<R>] = &axis.taps[axis.samples[element].clone()];
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
