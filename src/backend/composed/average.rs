//! The average over samples, as two products: `W_y · F · W_xᵀ`.

use burn::backend::Backend;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::Shape;
use std::ops::Range;

use super::{BLOCK, Call, Sum, read};
use crate::geometry::convention::RegionSamples;
use crate::geometry::plan::Weights;

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
    let (mut y, mut x) = (Weights::default(), Weights::default());

    call.collect(&regions, |region| {
        let Some(image) = region.image else {
            return call.full::<R>(call.channels, sampling.out_of_bounds_value);
        };
        R::weigh(&rule_y, region.y, rows, height, &mut y);
        R::weigh(&rule_x, region.x, columns, width, &mut x);
        average::<B, R>(&call, image, &y, &x, sampling.out_of_bounds_value)
    })
}

/// One region, `[C, P, Q]`.
fn average<B: Backend, R: Sum>(
    call: &Call<B>,
    image: usize,
    y: &Weights<R>,
    x: &Weights<R>,
    out_of_bounds_value: f64,
) -> FloatTensor<B> {
    let (window_y, window_x) = (y.window(), x.window());
    if window_y.is_empty() || window_x.is_empty() {
        return call.full::<R>(call.channels, out_of_bounds_value);
    }
    let [rows, columns] = call.output_size;
    let (height, width) = (window_y.len(), window_x.len());
    let weights_y = call.constant(dense(y, &window_y), [1, rows, height]);
    let weights_x = B::float_swap_dims(call.constant(dense(x, &window_x), [columns, width]), 0, 1);

    let largest = (height * width).max(height * columns).max(rows * columns);
    let inside = call.by_channels(BLOCK / largest, |channels| {
        let count = channels.len();
        let window = call.window::<R>(image, channels, window_y.clone(), window_x.clone());
        let window = B::float_reshape(window, Shape::new([count * height, width]));
        let along_x = B::float_matmul(window, weights_x.clone());
        let along_x = B::float_reshape(along_x, Shape::new([count, height, columns]));
        B::float_matmul(weights_y.clone(), along_x)
    });
    if out_of_bounds_value == 0.0 {
        return inside;
    }
    let outside = outside(y, x, out_of_bounds_value);
    B::float_add(inside, call.constant(outside, [1, rows, columns]))
}

/// The sparse weights as a matrix `[elements, window]`.
fn dense<R: Sum>(axis: &Weights<R>, window: &Range<usize>) -> Vec<R> {
    let mut matrix = vec![R::default(); axis.pixels.len() * window.len()];
    for (row, (pixels, weights, _)) in matrix.chunks_exact_mut(window.len()).zip(axis.elements()) {
        if !pixels.is_empty() {
            row[pixels.start - window.start..pixels.end - window.start].copy_from_slice(weights);
        }
    }
    matrix
}

/// What samples out of bounds add to each output element: `v * (1 - m_y mᵀ_x)`.
fn outside<R: Sum>(y: &Weights<R>, x: &Weights<R>, value: f64) -> Vec<R> {
    y.share
        .iter()
        .flat_map(|&share_y| {
            x.share
                .iter()
                .map(move |&share_x| R::from_f64(value * (1.0 - share_y.into() * share_x.into())))
        })
        .collect()
}
