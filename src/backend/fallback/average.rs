//! An average, as two products: `W_y · F`, then `W_x` times each of its rows.

use std::ops::Range;

use burn::backend::Backend;
use burn::backend::tensor::FloatTensor;
use burn::tensor::Shape;

use super::channels_last::ChannelsLast;
use super::planned::{Planned, Values};
use super::schedule::Pool;
use super::tensors::Sum;
use crate::geometry::plan::{AxisPlan, Read, Weights};

impl<R: Sum> Pool<R> for Weights<R> {
    const AT_ONCE: bool = false;

    fn pool<B: Backend>(values: Values, pixels: &ChannelsLast<B>, regions: &[Planned<Self>]) -> FloatTensor<B> {
        let [y, x] = &regions[0].plan;
        let [window_y, window_x] = &regions[0].window;
        let (rows, columns) = (y.count(), x.count());
        let (height, width, channels) = (window_y.len(), window_x.len(), pixels.channels);

        let window = pixels.window(window_y, window_x);
        let window = B::float_reshape(window, Shape::new([height, width * channels]));
        let weights_y = pixels.constant(dense(y, &y.weights, window_y), [rows, height]);
        let along_y = B::float_matmul(weights_y, window);
        let along_y = B::float_reshape(along_y, Shape::new([rows, width, channels]));
        let weights_x = pixels.constant(dense(x, &x.weights, window_x), [1, columns, width]);
        let inside = B::float_matmul(weights_x, along_y);
        let inside = B::float_reshape(inside, Shape::new([1, rows * columns, channels]));
        if values.outside == 0.0 {
            return inside;
        }
        let outside = outside(y, x, values.outside);
        B::float_add(inside, pixels.constant(outside, [1, rows * columns, 1]))
    }
}

/// A number for each pixel that elements read, such as its weight, as a matrix `[elements, window]`.
pub fn dense<R: Sum>(axis: &Weights<R>, numbers: &[R], window: &Range<usize>) -> Vec<R> {
    let mut matrix = vec![R::default(); axis.count() * window.len()];
    let mut rest = numbers;
    for (row, Read { pixels, .. }) in matrix.chunks_exact_mut(window.len()).zip(&axis.reads) {
        let (numbers, after) = rest.split_at(pixels.len());
        rest = after;
        if !pixels.is_empty() {
            row[pixels.start - window.start..pixels.end - window.start].copy_from_slice(numbers);
        }
    }
    matrix
}

/// What samples out of bounds add to each output element: `v * (1 - m_y mᵀ_x)`.
fn outside<R: Sum>(y: &Weights<R>, x: &Weights<R>, value: f64) -> Vec<R> {
    let of_row = |of_y: &Read<R>| {
        let share_y: f64 = of_y.share.into();
        let of_element = move |of_x: &Read<R>| R::from_f64(value * (1.0 - share_y * of_x.share.into()));
        x.reads.iter().map(of_element)
    };
    y.reads.iter().flat_map(of_row).collect()
}
