//! An average, as two products: `W_y · F`, then `W_x` times each of its rows.

use std::ops::Range;

use burn::backend::Backend;
use burn::backend::tensor::FloatTensor;
use burn::tensor::Shape;

use super::{ChannelsLast, Kernel, Sum, concatenate};
use crate::geometry::plan::{AxisPlan, Planner, Read, Weights};

/// An average.
pub struct Average {
    outside: f64,
}

impl Average {
    pub fn new<R: Sum>(planner: &Planner<R>) -> Self {
        Self {
            outside: planner.value_without_pixels(),
        }
    }

    /// One region, `[1, P * Q, C]`.
    fn average<B: Backend, R: Sum>(&self, pixels: &ChannelsLast<B>, [y, x]: &[Weights<R>; 2]) -> FloatTensor<B> {
        let (window_y, window_x) = (y.window(), x.window());
        let (rows, columns) = (y.count(), x.count());
        let (height, width, channels) = (window_y.len(), window_x.len(), pixels.channels);

        let window = pixels.window(&window_y, &window_x);
        let window = B::float_reshape(window, Shape::new([height, width * channels]));
        let weights_y = pixels.constant(dense(y, &window_y), [rows, height]);
        let along_y = B::float_matmul(weights_y, window);
        let along_y = B::float_reshape(along_y, Shape::new([rows, width, channels]));
        let weights_x = pixels.constant(dense(x, &window_x), [1, columns, width]);
        let inside = B::float_matmul(weights_x, along_y);
        let inside = B::float_reshape(inside, Shape::new([1, rows * columns, channels]));
        if self.outside == 0.0 {
            return inside;
        }
        let outside = outside(y, x, self.outside);
        B::float_add(inside, pixels.constant(outside, [1, rows * columns, 1]))
    }
}

impl<R: Sum> Kernel<R> for Average {
    type Plan = Weights<R>;

    const AT_ONCE: bool = false;

    fn compute<B: Backend>(&self, pixels: &ChannelsLast<B>, plans: &[[Weights<R>; 2]]) -> FloatTensor<B> {
        let parts = plans.iter().map(|plan| self.average(pixels, plan));
        concatenate::<B>(parts.collect(), 0)
    }
}

/// The sparse weights as a matrix `[elements, window]`.
fn dense<R: Sum>(axis: &Weights<R>, window: &Range<usize>) -> Vec<R> {
    let mut matrix = vec![R::default(); axis.count() * window.len()];
    for (row, (pixels, weights, _)) in matrix
        .chunks_exact_mut(window.len())
        .zip(axis.elements(0..axis.count()))
    {
        if !pixels.is_empty() {
            row[pixels.start - window.start..pixels.end - window.start].copy_from_slice(weights);
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
