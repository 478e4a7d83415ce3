//! Maxima over samples: all samples of a block of elements are computed again, and the gradient goes to the winners.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata, get_or_init_device_settings};
use burn::tensor::{Scalar, Shape, Slice};

use super::reads::{Linear, LinearReads};
use crate::backend::fallback::channels_last::ChannelsLast;
use crate::backend::fallback::matrices::{product, sample_matrices};
use crate::backend::fallback::max_of_samples::{elements_in_bounds, lower_bounds, most_samples};
use crate::backend::fallback::planned::Values;
use crate::backend::fallback::tensors::{Number, cut};
use crate::geometry::plan::SampleTaps;

/// How many numbers the samples of a block hold at most, 8 MiB of f32. Several tensors of this size exist at a time.
const BLOCK: usize = 2 << 20;

impl<R: Number> Linear<R> for SampleTaps<R> {
    /// All samples in blocks of elements, with the gradient for the winners and 0 for the others.
    fn reads<B: Backend>(
        [y, x]: &[Self; 2],
        values: Values,
        pixels: Option<&ChannelsLast<B>>,
        gradient: FloatTensor<B>,
    ) -> Vec<LinearReads<B, R>> {
        let pixels = pixels.expect("a maximum reads the features");
        let [rows, columns] = [y, x].map(elements_in_bounds);
        let [samples_y, samples_x] = [y, x].map(most_samples);
        let element_numbers = samples_y * samples_x * pixels.channels;
        let column_block = (BLOCK / element_numbers).clamp(1, columns.len());
        let row_block = (BLOCK / (element_numbers * column_block)).clamp(1, rows.len());
        let mut parts = Vec::new();
        for rows in cut(rows, row_block) {
            for columns in cut(columns.clone(), column_block) {
                let (axis_y, axis_x) = (
                    sample_matrices(y, &rows, samples_y),
                    sample_matrices(x, &columns, samples_x),
                );
                let samples = product(pixels, [&axis_y, &axis_x], &axis_y.weights, &axis_x.weights);
                let split = [rows.len(), samples_y, columns.len(), samples_x, pixels.channels];
                let joined = [rows.len(), columns.len(), samples_y * samples_x, pixels.channels];
                let samples = B::float_permute(B::float_reshape(samples, Shape::new(split)), &[0, 2, 1, 3, 4]);
                let samples = B::float_reshape(samples, Shape::new(joined));
                let floors = Values {
                    start: f64::NEG_INFINITY,
                    ..values
                };
                let floors = lower_bounds(floors, [y, x], [&rows, &columns]);
                let slices = [Slice::from(rows.clone()), Slice::from(columns.clone()), Slice::full()];
                let gradient = B::float_slice(gradient.clone(), &slices);
                let sample_gradient = to_winners(pixels, samples, gradient, floors, values.start);
                let [rows, columns, _, channels] = joined;
                let split = Shape::new([rows, columns, samples_y, samples_x, channels]);
                let sample_gradient = B::float_permute(B::float_reshape(sample_gradient, split), &[0, 2, 1, 3, 4]);
                let flat = Shape::new([rows * samples_y, columns * samples_x, channels]);
                parts.push(LinearReads {
                    y: axis_y,
                    x: axis_x,
                    gradient: B::float_reshape(sample_gradient, flat),
                });
            }
        }
        parts
    }
}

/// The gradient `[P, Q, samples, C]` of samples: the gradient of the element for its winning sample, 0 for the others.
/// No sample wins if the largest is not above `start`, or is below the floor of its element.
fn to_winners<B: Backend, R: Number>(
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
