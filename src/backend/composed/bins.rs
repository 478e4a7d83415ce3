//! Maxima of quantized bins: rows of a bin first, then columns.

use burn::backend::Backend;
use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::Slice;
use std::ops::Range;

use super::{BLOCK, Call, Sum, concatenate, read};
use crate::geometry::convention::RegionBins;
use crate::geometry::plan::hull;

pub(super) fn pool<B: Backend, R: Sum>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    bins: &RegionBins,
) -> FloatTensor<B> {
    let regions = read::<B, R>(&features, boxes, batch_indices, [0, 1, 2, 3]);
    let call = Call::<B>::new(features, bins.output_size);
    let [rows, columns] = bins.output_size;
    let [height, width] = call.map;
    let [rule_y, rule_x] = R::bin_rules(bins);
    let (mut y, mut x) = (Vec::new(), Vec::new());

    call.collect(&regions, |region| {
        let Some(image) = region.image else {
            return call.full::<R>(call.channels, 0.0);
        };
        R::bin(&rule_y, region.y, rows, height, &mut y);
        R::bin(&rule_x, region.x, columns, width, &mut x);
        maximum::<B, R>(&call, image, &y, &x)
    })
}

/// One region, `[C, P, Q]`.
fn maximum<B: Backend, R: Sum>(
    call: &Call<B>,
    image: usize,
    y: &[Range<usize>],
    x: &[Range<usize>],
) -> FloatTensor<B> {
    let (window_y, window_x) = (hull(y.iter().cloned()), hull(x.iter().cloned()));
    if window_y.is_empty() || window_x.is_empty() {
        return call.full::<R>(call.channels, 0.0);
    }
    let block = BLOCK / (window_y.len() * window_x.len()).max(y.len() * x.len());
    call.by_channels(block, |channels| {
        let window = call.window::<R>(image, channels, window_y.clone(), window_x.clone());
        let along_y = maxima_of_ranges::<B, R>(window, 1, y, window_y.start);
        maxima_of_ranges::<B, R>(along_y, 2, x, window_x.start)
    })
}

/// The maximum of each range of a dimension; 0 for an empty one.
fn maxima_of_ranges<B: Backend, R: Sum>(
    tensor: FloatTensor<B>,
    dim: usize,
    ranges: &[Range<usize>],
    origin: usize,
) -> FloatTensor<B> {
    let maximum = |range: &Range<usize>| {
        if range.is_empty() {
            let mut shape = tensor.shape();
            shape[dim] = 1;
            return B::float_zeros(shape, &tensor.device(), R::DTYPE);
        }
        let mut slices = [Slice::full(); 3];
        slices[dim] = Slice::from(range.start - origin..range.end - origin);
        B::float_max_dim(B::float_slice(tensor.clone(), &slices), dim)
    };
    concatenate::<B>(ranges.iter().map(maximum).collect(), dim)
}
