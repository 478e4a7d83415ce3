//! An average: an element is one row of weights.

use std::ops::Range;

use burn::backend::Backend;
use burn::backend::tensor::FloatTensor;

use super::Kernel;
use super::reads::{Axis, Reads};
use crate::backend::fallback::{ChannelsLast, Sum};
use crate::geometry::plan::{AxisPlan, Read, WeightSlopes, Weights};

/// An average, with slopes or without.
pub struct Average<const SLOPES: bool>;

impl<R: Sum> Kernel<R> for Average<false> {
    type Plan = Weights<R>;

    const READS_FEATURES: bool = false;

    fn reads<B: Backend>(
        &self,
        _pixels: Option<&ChannelsLast<B>>,
        plan: &[Weights<R>; 2],
        gradient: FloatTensor<B>,
    ) -> Vec<Reads<B, R>> {
        let [y, x] = plan.each_ref().map(|axis| {
            let window = axis.window();
            let weights = dense(axis, &axis.weights, &window);
            Axis {
                window,
                weights,
                slopes: None,
            }
        });
        vec![Reads { y, x, gradient }]
    }
}

impl<R: Sum> Kernel<R> for Average<true> {
    type Plan = WeightSlopes<R>;

    const READS_FEATURES: bool = true;

    fn reads<B: Backend>(
        &self,
        _pixels: Option<&ChannelsLast<B>>,
        plan: &[WeightSlopes<R>; 2],
        gradient: FloatTensor<B>,
    ) -> Vec<Reads<B, R>> {
        let [y, x] = plan.each_ref().map(|axis| {
            let window = axis.window();
            let dense = |weights: &Vec<R>| dense(&axis.weights, weights, &window);
            Axis {
                weights: dense(&axis.weights.weights),
                slopes: Some(axis.slopes.each_ref().map(dense)),
                window: window.clone(),
            }
        });
        vec![Reads { y, x, gradient }]
    }
}

/// A number of each pixel that elements read, as a matrix `[elements, window]`.
fn dense<R: Sum>(axis: &Weights<R>, numbers: &[R], window: &Range<usize>) -> Vec<R> {
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
