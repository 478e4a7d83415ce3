//! A maximum over bins: of rows of the map first, then of columns of these maxima.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata, get_or_init_device_settings};
use burn::tensor::{DType, Scalar, Shape, Slice, read_sync};

use super::channels_last::ChannelsLast;
use super::planned::{PlannedGroup, Values};
use super::schedule::PoolPlan;
use super::tensors::{Number, concatenate};
use crate::geometry::plan::PixelRanges;

impl<R: Number> PoolPlan<R> for PixelRanges {
    fn pool<B: Backend>(values: Values, pixels: &ChannelsLast<B>, region: &PlannedGroup<Self>) -> FloatTensor<B> {
        let ([y, x], [rows, columns]) = (&region.plan, &region.window);
        let window = pixels.window(rows, columns);
        let along_y = maxima::<B>(&window, 0, y, rows.start, values.outside);
        let maxima = maxima::<B>(&along_y, 1, x, columns.start, values.outside);
        B::float_reshape(maxima, Shape::new([1, y.len() * x.len(), pixels.channels]))
    }
}

/// The maxima of bins along dimension 0 or 1 of `[H, W, C]`, which begins at pixel `origin`. Those of an empty bin are
/// `outside`.
fn maxima<B: Backend>(
    pixels: &FloatTensor<B>,
    dim: usize,
    bins: &PixelRanges,
    origin: usize,
    outside: f64,
) -> FloatTensor<B> {
    let maxima = bins.iter().map(|bin| {
        if bin.is_empty() {
            let mut shape = pixels.shape();
            shape[dim] = 1;
            return B::float_full(shape, Scalar::from(outside), &pixels.device(), pixels.dtype().into());
        }
        let mut slices = [Slice::full(); 3];
        slices[dim] = Slice::from(bin.start - origin..bin.end - origin);
        B::float_max_dim(B::float_slice(pixels.clone(), &slices), dim)
    });
    concatenate::<B>(maxima.collect(), dim)
}

/// Features in which NaN and what is smaller than `start`, where a maximum starts, are replaced by `start`.
pub fn from_start<B: Backend>(features: FloatTensor<B>, start: f64) -> FloatTensor<B> {
    let least = match features.dtype() {
        DType::F64 => f64::MIN,
        _ => f32::MIN.into(),
    };
    // A finite sum shows in one pass that there is neither NaN nor infinity, as in nearly all features.
    let sum = B::float_into_data(B::float_sum(features.clone()));
    let sum = read_sync(sum).map(|sum| sum.iter::<f64>().sum());
    if start <= least && sum.is_ok_and(f64::is_finite) {
        return features;
    }
    let bool_dtype = get_or_init_device_settings::<B>(&features.device()).bool_dtype;
    let larger = B::float_greater_elem(features.clone(), Scalar::from(start), bool_dtype);
    B::float_mask_fill(features, B::bool_not(larger), Scalar::from(start))
}
