//! Maxima: all samples of a block of elements are computed again, and the gradient goes to those that won.

use std::ops::Range;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata, get_or_init_device_settings};
use burn::tensor::{Scalar, Shape, Slice};

use super::Kernel;
use super::reads::{Axis, Reads, product};
use crate::backend::fallback::max_of_samples::{cut, elements_in_bounds};
use crate::backend::fallback::{ChannelsLast, Sum};
use crate::geometry::plan::hull;
use crate::geometry::plan::{Planner, SampleTaps, TapSlopes};

/// How many numbers the samples of a block hold at most, 8 MiB of f32. Several tensors as large are alive at once.
const BLOCK: usize = 2 << 20;

/// A maximum over samples, with slopes or without.
pub struct MaxOfSamples<const SLOPES: bool> {
    /// The number that a maximum starts from, and that a sample has to be above.
    start: f64,
    outside: f64,
}

impl<const SLOPES: bool> MaxOfSamples<SLOPES> {
    pub fn new<R: Sum>(planner: &Planner<R>) -> Self {
        Self {
            start: planner.maximum_from().into(),
            outside: planner.value_without_pixels(),
        }
    }
}

impl<R: Sum> Kernel<R> for MaxOfSamples<false> {
    type Plan = SampleTaps<R>;

    const READS_FEATURES: bool = true;

    fn reads<B: Backend>(
        &self,
        pixels: Option<&ChannelsLast<B>>,
        plan: &[SampleTaps<R>; 2],
        gradient: FloatTensor<B>,
    ) -> Vec<Reads<B, R>> {
        let axes = plan.each_ref().map(|axis| Samples {
            taps: axis,
            slopes: None,
        });
        let pixels = pixels.expect("a maximum reads the features");
        winners(pixels, &axes, gradient, self.start, self.outside)
    }
}

impl<R: Sum> Kernel<R> for MaxOfSamples<true> {
    type Plan = TapSlopes<R>;

    const READS_FEATURES: bool = true;

    fn reads<B: Backend>(
        &self,
        pixels: Option<&ChannelsLast<B>>,
        plan: &[TapSlopes<R>; 2],
        gradient: FloatTensor<B>,
    ) -> Vec<Reads<B, R>> {
        let axes = plan.each_ref().map(|axis| Samples {
            taps: &axis.samples,
            slopes: Some(axis),
        });
        let pixels = pixels.expect("a maximum reads the features");
        winners(pixels, &axes, gradient, self.start, self.outside)
    }
}

/// The samples of one axis, and how their weights move where that is wanted.
struct Samples<'a, R> {
    taps: &'a SampleTaps<R>,
    slopes: Option<&'a TapSlopes<R>>,
}

/// All samples, with the gradient `[P, Q, C]` where they won and 0 elsewhere, in blocks of elements.
fn winners<B: Backend, R: Sum>(
    pixels: &ChannelsLast<B>,
    [y, x]: &[Samples<'_, R>; 2],
    gradient: FloatTensor<B>,
    start: f64,
    outside: f64,
) -> Vec<Reads<B, R>> {
    let [rows, columns] = [y, x].map(|axis| elements_in_bounds(axis.taps));
    let [samples_y, samples_x] = [y, x].map(|axis| axis.taps.samples.iter().map(Range::len).max().unwrap_or(0));
    let of_an_element = samples_y * samples_x * pixels.channels;
    let column_block = (BLOCK / of_an_element).clamp(1, columns.len());
    let row_block = (BLOCK / (of_an_element * column_block)).clamp(1, rows.len());
    let mut parts = Vec::new();
    for rows in cut(&rows, row_block) {
        for columns in cut(&columns, column_block) {
            let (axis_y, axis_x) = (y.axis(&rows, samples_y), x.axis(&columns, samples_x));
            let samples = product(pixels, [&axis_y, &axis_x], &axis_y.weights, &axis_x.weights);
            let split = [rows.len(), samples_y, columns.len(), samples_x, pixels.channels];
            let joined = [rows.len(), columns.len(), samples_y * samples_x, pixels.channels];
            let samples = B::float_permute(B::float_reshape(samples, Shape::new(split)), &[0, 2, 1, 3, 4]);
            let samples = B::float_reshape(samples, Shape::new(joined));
            let floors = floors(&[y, x], [&rows, &columns], outside);
            let of_block = [Slice::from(rows.clone()), Slice::from(columns.clone()), Slice::full()];
            let gradient = B::float_slice(gradient.clone(), &of_block);
            let of_samples = to_winners(pixels, samples, gradient, floors, start);
            let [rows, columns, _, channels] = joined;
            let split = Shape::new([rows, columns, samples_y, samples_x, channels]);
            let of_samples = B::float_permute(B::float_reshape(of_samples, split), &[0, 2, 1, 3, 4]);
            let flat = Shape::new([rows * samples_y, columns * samples_x, channels]);
            parts.push(Reads {
                y: axis_y,
                x: axis_x,
                gradient: B::float_reshape(of_samples, flat),
            });
        }
    }
    parts
}

/// The gradient `[P, Q, samples, C]` of samples: that of their element where they won, 0 elsewhere. A sample that is
/// not above `start`, or is below the floor of its element, did not.
fn to_winners<B: Backend, R: Sum>(
    pixels: &ChannelsLast<B>,
    samples: FloatTensor<B>,
    gradient: FloatTensor<B>,
    floors: Vec<R>,
    start: f64,
) -> FloatTensor<B> {
    let device = pixels.device();
    let settings = get_or_init_device_settings::<B>(&device);
    let [rows, columns, count, channels] = samples.shape().dims();
    let (all, of_elements) = (
        Shape::new([rows, columns, count, channels]),
        Shape::new([rows, columns, 1, channels]),
    );
    let winner = B::float_argmax(samples.clone(), 2, settings.int_dtype);
    let number = B::int_arange(0..count as i64, &device, settings.int_dtype);
    let number = B::int_expand(B::int_reshape(number, Shape::new([1, 1, count, 1])), all.clone());
    let lost = B::int_not_equal(B::int_expand(winner, all.clone()), number, settings.bool_dtype);

    let maxima = B::float_max_dim(samples, 2);
    let floors = B::float_expand(pixels.constant(floors, [rows, columns, 1, 1]), of_elements.clone());
    let mut none = B::float_lower(maxima.clone(), floors, settings.bool_dtype);
    none = B::bool_or(
        none,
        B::float_lower_equal_elem(maxima, Scalar::from(start), settings.bool_dtype),
    );
    let gradient = B::float_reshape(gradient, of_elements);
    let gradient = B::float_mask_fill(gradient, none, Scalar::from(0.0));
    B::float_mask_fill(B::float_expand(gradient, all), lost, Scalar::from(0.0))
}

/// What the maximum of each element is at least: the out-of-bounds value where one of its samples is out of bounds.
fn floors<R: Sum>([y, x]: &[&Samples<'_, R>; 2], [rows, columns]: [&Range<usize>; 2], outside: f64) -> Vec<R> {
    let floor = |row: usize, column: usize| match y.taps.complete[row] && x.taps.complete[column] {
        true => f64::NEG_INFINITY,
        false => outside,
    };
    let of_row = |row| columns.clone().map(move |column| R::from_f64(floor(row, column)));
    rows.clone().flat_map(of_row).collect()
}

impl<R: Sum> Samples<'_, R> {
    /// The samples of elements as matrices.
    fn axis(&self, elements: &Range<usize>, samples: usize) -> Axis<R> {
        let window = hull(
            elements
                .clone()
                .flat_map(|element| &self.taps.taps[self.taps.samples[element].clone()])
                .map(|taps| taps.low..taps.high + 1),
        );
        let weights = |tap: usize| [self.taps.taps[tap].low_weight, self.taps.taps[tap].high_weight];
        let slopes = self.slopes.map(|slopes| {
            [0, 1].map(|end| {
                let slope = |tap: usize| {
                    let by: f64 = slopes.movement[tap][end].into();
                    slopes.by_position[tap].map(|slope| R::from_f64(slope.into() * by))
                };
                self.dense(elements, samples, &window, slope)
            })
        });
        Axis {
            weights: self.dense(elements, samples, &window, weights),
            slopes,
            window,
        }
    }

    /// Numbers of both pixels of each sample as a matrix `[elements * samples, window]`. An element that has fewer
    /// samples repeats its last one, which never wins.
    fn dense(
        &self,
        elements: &Range<usize>,
        samples: usize,
        window: &Range<usize>,
        numbers: impl Fn(usize) -> [R; 2],
    ) -> Vec<R> {
        let mut matrix = vec![R::default(); elements.len() * samples * window.len()];
        let mut rows = matrix.chunks_exact_mut(window.len());
        for element in elements.clone() {
            let of_element = self.taps.samples[element].clone();
            for sample in 0..samples {
                let tap = (of_element.start + sample).min(of_element.end - 1);
                let row = rows.next().expect("a row for each sample of each element");
                let taps = self.taps.taps[tap];
                for (pixel, number) in [taps.low, taps.high].into_iter().zip(numbers(tap)) {
                    let sum = &mut row[pixel - window.start];
                    *sum = R::from_f64((*sum).into() + number.into());
                }
            }
        }
        matrix
    }
}
