//! A call on volumes, as calls on maps: the slices of each region are pooled, and then pooled again along the depth.
//!
//! Slices take more memory than the output, so regions are computed in parts, and channels too where one region takes
//! more than a part.

use std::ops::Range;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata, get_or_init_device_settings};
use burn::tensor::{Scalar, Shape, Slice};

use super::tensors::{cast, concatenate, cut, of_channels, wide};
use crate::backend::{MaximumOfSamples, RegionCall, RegionKernels};
use crate::geometry::options::Reduction;
use crate::geometry::plan::Region;

/// The most bytes of the pooled slices of a part, unless one region has more in one channel.
const SLICE_BYTES: usize = 32 << 20;

/// See [`RegionKernels::pool_volumes`].
pub(in crate::backend) fn pool_volumes<B: RegionKernels>(
    features: FloatTensor<B>,
    slices: &RegionCall<B>,
    depths: &RegionCall<B>,
    maximum: Option<MaximumOfSamples>,
) -> FloatTensor<B> {
    let (depth, dtype) = (depths.features_shape[2], features.dtype());
    let pooled = blocks(depths).map(|channels| {
        let maps = of_channels::<B>(&features, channels.start * depth..channels.end * depth);
        // Halves become f32, so that the output alone is rounded, once.
        let maps = cast::<B>(maps, wide(dtype));
        let pooled = parts(slices, depths, channels.len()).map(|(_, [slices, depths])| {
            let shape = Shape::new(depths.features_shape);
            let slices = B::float_reshape(B::pool(maps.clone(), slices), shape);
            let pooled = B::pool(slices, depths);
            let pooled = match maximum {
                Some(maximum) => maximum.of::<B>(pooled),
                None => pooled,
            };
            cast::<B>(pooled, dtype.into())
        });
        concatenate::<B>(pooled.collect(), 0)
    });
    concatenate::<B>(pooled.collect(), 1)
}

/// See [`RegionKernels::volumes_gradient`].
pub(in crate::backend) fn volumes_gradient<B: RegionKernels>(
    gradient: FloatTensor<B>,
    slices: &RegionCall<B>,
    depths: &RegionCall<B>,
) -> FloatTensor<B> {
    let dtype = gradient.dtype();
    let gradients = blocks(depths).map(|channels| {
        let count = channels.len();
        let gradient = of_channels::<B>(&gradient, channels);
        let of_parts = parts(slices, depths, count).map(|(regions, [slices, depths])| {
            let gradient = B::float_slice(gradient.clone(), &[Slice::from(regions)]);
            let gradient = depths.features_gradient(cast::<B>(gradient, wide(dtype)), None);
            let gradient = B::float_reshape(gradient, slices.output_shape());
            slices.features_gradient(gradient, None)
        });
        let sum = of_parts.reduce(B::float_add).expect("there is a part");
        cast::<B>(sum, dtype.into())
    });
    concatenate::<B>(gradients.collect(), 1)
}

/// How many regions, times channels, have pooled slices at a time.
fn at_a_time<B: RegionKernels>(depths: &RegionCall<B>) -> usize {
    let [_, _, depth, elements] = depths.features_shape;
    // A maximum first has its samples along the depth, which can be more than slices.
    let rows = depth.max(depths.operator.output_size[0]);
    let bytes = rows.saturating_mul(elements * depths.boxes.dtype().size().max(size_of::<f32>()));
    (SLICE_BYTES / bytes).max(1)
}

/// The channels of the output in blocks.
fn blocks<B: RegionKernels>(depths: &RegionCall<B>) -> impl Iterator<Item = Range<usize>> {
    cut(0..depths.features_shape[1], at_a_time(depths))
}

/// The regions of a call in parts, with both operators for a part in so many channels.
fn parts<B: RegionKernels>(
    slices: &RegionCall<B>,
    depths: &RegionCall<B>,
    channels: usize,
) -> impl Iterator<Item = (Range<usize>, [RegionCall<B>; 2])> {
    let [regions, _, depth, _] = depths.features_shape;
    let most = (at_a_time(depths) / channels).max(1);
    let part = regions.div_ceil(regions.div_ceil(most));
    cut(0..regions, part).map(move |regions| {
        let mut of_slices = of_part(slices, &regions, false);
        of_slices.features_shape[1] = channels * depth;
        let mut of_depths = of_part(depths, &regions, true);
        of_depths.features_shape[..2].copy_from_slice(&[regions.len(), channels]);
        (regions, [of_slices, of_depths])
    })
}

/// Some regions of a call. If each has a map of its own, maps are counted from the first of these regions.
fn of_part<B: RegionKernels>(call: &RegionCall<B>, regions: &Range<usize>, has_own_map: bool) -> RegionCall<B> {
    let (mut call, dtype) = (call.clone(), wide(call.boxes.dtype()));
    call.boxes = cast::<B>(call.boxes, dtype);
    if regions.len() == call.boxes.shape()[0] {
        return call;
    }
    let maps = if has_own_map { 0..regions.len() } else { regions.clone() };
    call.boxes = B::float_slice(call.boxes, &[Slice::from(regions.clone())]);
    call.batch_indices = B::int_slice(call.batch_indices, &[Slice::from(maps)]);
    call.regions = call.regions.map(|all| {
        let own = all[regions.clone()].iter().enumerate();
        let region = own.map(|(map, region)| Region {
            image: if has_own_map { map } else { region.image },
            ..region.clone()
        });
        region.collect()
    });
    call
}

impl MaximumOfSamples {
    /// From samples `[K, C, .., ..]` to elements `[K, C, P, Q * R]`.
    fn of<B: RegionKernels>(&self, samples: FloatTensor<B>) -> FloatTensor<B> {
        let [regions, channels, ..] = samples.shape().dims::<4>();
        let ([planes, rows, columns], [z, y, x]) = (self.output_size, self.samples);
        let shape = |sizes: [usize; 4]| Shape::new(sizes);
        let slices = shape([regions, channels * planes * z, rows * y, columns * x]);
        let slices = largest::<B>(B::float_reshape(samples, slices), [y, x]);
        let depths = shape([regions, channels * planes, z, rows * columns]);
        let pooled = largest::<B>(B::float_reshape(slices, depths), [z, 1]);
        let pooled = B::float_reshape(pooled, shape([regions, channels, planes, rows * columns]));
        match self.reduction {
            Reduction::MaxFromZero => B::float_clamp_min(pooled, Scalar::from(0.0)),
            _ => pooled,
        }
    }
}

/// The largest number of each block of so many rows and columns. NaN is ignored, as it is in maps: `max_pool2d` of Flex
/// returns it, and that of NdArray does not.
fn largest<B: Backend>(maps: FloatTensor<B>, block: [usize; 2]) -> FloatTensor<B> {
    let dtype = get_or_init_device_settings::<B>(&maps.device()).bool_dtype;
    let is_nan = B::float_is_nan(maps.clone(), dtype);
    let numbers = B::float_mask_fill(maps, is_nan, Scalar::from(f32::NEG_INFINITY));
    B::max_pool2d(numbers, block, block, [0, 0], [1, 1], false)
}
