//! What elements read along each axis, as dense matrices, and their product with the pixels of a window.

use std::ops::Range;

use burn::backend::Backend;
use burn::backend::tensor::FloatTensor;
use burn::tensor::Shape;

use super::channels_last::ChannelsLast;
use super::tensors::Number;
use crate::geometry::plan::{AxisPlan, Read, SampleTaps, Weights};

/// What is read along one axis: a row for each element or sample, a column for each pixel of the window.
pub struct AxisMatrix<R> {
    pub window: Range<usize>,
    pub weights: Vec<R>,
    /// The derivatives of the weights by the region's low end, and by its high end; none for the gradient of features.
    pub slopes: Option<[Vec<R>; 2]>,
}

impl<R: Number> AxisMatrix<R> {
    fn count(&self) -> usize {
        self.weights.len() / self.window.len()
    }
}

/// The weights of elements, with their slopes if these are planned.
pub fn weight_matrices<R: Number>(axis: &Weights<R>) -> AxisMatrix<R> {
    let window = axis.window();
    let matrix = |numbers: &Vec<R>| dense(axis, numbers, &window);
    let has_slopes = !axis.slopes[0].is_empty();
    AxisMatrix {
        weights: matrix(&axis.weights),
        slopes: has_slopes.then(|| axis.slopes.each_ref().map(matrix)),
        window,
    }
}

/// A number for each pixel that elements read, such as its weight, as a matrix `[elements, window]`.
fn dense<R: Number>(axis: &Weights<R>, numbers: &[R], window: &Range<usize>) -> Vec<R> {
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

/// The samples of elements, with their slopes if these are planned.
pub fn sample_matrices<R: Number>(taps: &SampleTaps<R>, elements: &Range<usize>, samples: usize) -> AxisMatrix<R> {
    let window = taps.window_of(elements.clone());
    let slopes = |end: usize| {
        let slope = |tap: usize| {
            let by: f64 = taps.movement[tap][end].into();
            taps.by_position[tap].map(|slope| R::from_f64(slope.into() * by))
        };
        dense_samples(taps, elements, samples, &window, slope)
    };
    AxisMatrix {
        weights: dense_samples(taps, elements, samples, &window, |tap| {
            [taps.taps[tap].low_weight, taps.taps[tap].high_weight]
        }),
        slopes: (!taps.movement.is_empty()).then(|| [0, 1].map(slopes)),
        window,
    }
}

/// A number for both pixels of each sample of elements, such as their weights, as a matrix
/// `[elements * samples, window]`. An element with fewer samples repeats its last one, which changes no maximum.
fn dense_samples<R: Number>(
    axis: &SampleTaps<R>,
    elements: &Range<usize>,
    samples: usize,
    window: &Range<usize>,
    numbers: impl Fn(usize) -> [R; 2],
) -> Vec<R> {
    let mut matrix = vec![R::default(); elements.len() * samples * window.len()];
    let taps = elements.clone().flat_map(|element| {
        let taps = axis.samples[element].clone();
        (0..samples).map(move |sample| (taps.start + sample).min(taps.end - 1))
    });
    for (row, tap) in matrix.chunks_exact_mut(window.len()).zip(taps) {
        let taps = axis.taps[tap];
        for (pixel, number) in [taps.low, taps.high].into_iter().zip(numbers(tap)) {
            let sum = &mut row[pixel - window.start];
            *sum = R::from_f64((*sum).into() + number.into());
        }
    }
    matrix
}

/// `Y · F · Xᵀ`, `[rows of y, rows of x, C]`, where F is the window of both axes.
pub fn product<B: Backend, R: Number>(
    pixels: &ChannelsLast<B>,
    [axis_y, axis_x]: [&AxisMatrix<R>; 2],
    y: &[R],
    x: &[R],
) -> FloatTensor<B> {
    let (rows, columns, channels) = (axis_y.count(), axis_x.count(), pixels.channels);
    let (height, width) = (axis_y.window.len(), axis_x.window.len());
    let window = pixels.window([&axis_y.window, &axis_x.window]);
    let window = B::float_reshape(window, Shape::new([height, width * channels]));
    let along_y = B::float_matmul(pixels.constant(y.to_vec(), [rows, height]), window);
    let along_y = B::float_reshape(along_y, Shape::new([rows, width, channels]));
    B::float_matmul(pixels.constant(x.to_vec(), [1, columns, width]), along_y)
}
