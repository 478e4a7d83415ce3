//! What a region reads in a block of channels, as matrices.

use std::ops::Range;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{Shape, TensorData};

use crate::backend::fallback::channels_last::ChannelsLast;
use crate::backend::fallback::matrices::{AxisMatrix, product, weight_matrices};
use crate::backend::fallback::planned::Values;
use crate::backend::fallback::tensors::Number;
use crate::geometry::plan::{AxisPlan, Weights};

/// A plan whose elements become matrices.
pub trait Linear<R: Number>: AxisPlan<R> + Sized {
    /// Whether the gradient of features reads them.
    const READS_FEATURES: bool = true;

    /// What a region reads in a block of channels, in parts. `gradient` is `[P, Q, C]`.
    fn reads<B: Backend>(
        plan: &[Self; 2],
        values: Values,
        pixels: Option<&ChannelsLast<B>>,
        gradient: FloatTensor<B>,
    ) -> Vec<LinearReads<B, R>>;
}

/// An average: an element is one row of weights.
impl<R: Number> Linear<R> for Weights<R> {
    const READS_FEATURES: bool = false;

    fn reads<B: Backend>(
        plan: &[Self; 2],
        _values: Values,
        _pixels: Option<&ChannelsLast<B>>,
        gradient: FloatTensor<B>,
    ) -> Vec<LinearReads<B, R>> {
        let [y, x] = plan.each_ref().map(weight_matrices);
        vec![LinearReads { y, x, gradient }]
    }
}

/// What is read, with its gradient.
pub struct LinearReads<B: Backend, R> {
    pub y: AxisMatrix<R>,
    pub x: AxisMatrix<R>,
    /// `[rows of y, rows of x, C]`.
    pub gradient: FloatTensor<B>,
}

impl<B: Backend, R: Number> LinearReads<B, R> {
    /// The pixels that are read. They may be a part of the region's, since large regions are read in parts.
    pub fn window(&self) -> [&Range<usize>; 2] {
        [&self.y.window, &self.x.window]
    }

    /// `Yᵀ · D · X`, `[h, w, C]`.
    pub fn window_gradient(&self) -> FloatTensor<B> {
        let [rows, columns, channels] = self.gradient.shape().dims();
        let (height, width) = (self.y.window.len(), self.x.window.len());
        let x = self.matrix(&self.x.weights, [1, columns, width]);
        let along_x = B::float_matmul(B::float_swap_dims(x, 1, 2), self.gradient.clone());
        let along_x = B::float_reshape(along_x, Shape::new([rows, width * channels]));
        let y = self.matrix(&self.y.weights, [rows, height]);
        let window = B::float_matmul(B::float_swap_dims(y, 0, 1), along_x);
        B::float_reshape(window, Shape::new([height, width, channels]))
    }

    /// The gradients of the ends, `[1]` each: of y's low and high end, and of x's.
    pub fn ends_gradient(&self, pixels: &ChannelsLast<B>) -> [FloatTensor<B>; 4] {
        let [slopes_y, slopes_x] = [&self.y, &self.x].map(|axis| axis.slopes.as_ref().expect("slopes are planned"));
        [
            (&slopes_y[0], &self.x.weights),
            (&slopes_y[1], &self.x.weights),
            (&self.y.weights, &slopes_x[0]),
            (&self.y.weights, &slopes_x[1]),
        ]
        .map(|(y, x)| {
            let moved = product(pixels, [&self.y, &self.x], y, x);
            B::float_sum(B::float_mul(moved, self.gradient.clone()))
        })
    }

    fn matrix<const D: usize>(&self, values: &[R], shape: [usize; D]) -> FloatTensor<B> {
        B::float_from_data(TensorData::new(values.to_vec(), shape), &self.gradient.device())
    }
}
