//! A call on volumes, as calls on maps: the slices of each region are pooled, and then pooled again along the depth.
//!
//! Slices take more memory than the output, so regions are computed in parts, and channels too where one region takes
//! more than a part.

use std::ops::Range;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata, get_or_init_device_settings};
use burn::tensor::{DType, FloatDType, Scalar, Shape, Slice};

use super::tensors::cast;
use crate::backend::{MaximumOfSamples, RegionCall, RegionKernels};
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
    if let Some(parts) = parts_of_channels(slices, depths) {
        let pooled = parts.map(|(channels, [slices, depths])| {
            let depth = depths.features_shape[2];
            let maps = channels.start * depth..channels.end * depth;
            pool_volumes::<B>(narrow::<B>(&features, maps), &slices, &depths, maximum)
        });
        return B::float_cat(pooled.collect(), 1);
    }
    let dtype = features.dtype();
    // Halves become f32, so that the output alone is rounded, once.
    let features = cast::<B>(features, wide(dtype));
    let mut pooled: Vec<_> = parts(slices, depths)
        .map(|[slices, depths]| {
            let shape = Shape::new(depths.features_shape);
            let slices = B::float_reshape(pool_maps::<B>(features.clone(), slices), shape);
            let pooled = pool_maps::<B>(slices, depths);
            let pooled = match maximum {
                Some(maximum) => maximum.of::<B>(pooled),
                None => pooled,
            };
            cast::<B>(pooled, dtype.into())
        })
        .collect();
    match pooled.len() {
        1 => pooled.remove(0),
        _ => B::float_cat(pooled, 0),
    }
}

/// See [`RegionKernels::volumes_gradient`].
pub(in crate::backend) fn volumes_gradient<B: RegionKernels>(
    gradient: FloatTensor<B>,
    slices: &RegionCall<B>,
    depths: &RegionCall<B>,
) -> FloatTensor<B> {
    let (shape, dtype) = (slices.features_shape, gradient.dtype());
    if shape.contains(&0) || gradient.shape().contains(&0) {
        return B::float_zeros(Shape::new(shape), &gradient.device(), dtype.into());
    }
    if let Some(parts) = parts_of_channels(slices, depths) {
        let gradients = parts.map(|(channels, [slices, depths])| {
            volumes_gradient::<B>(narrow::<B>(&gradient, channels), &slices, &depths)
        });
        return B::float_cat(gradients.collect(), 1);
    }
    let mut rest = 0;
    let of_parts = parts(slices, depths).map(|[slices, depths]| {
        let regions = rest..rest + depths.features_shape[0];
        rest = regions.end;
        let gradient = B::float_slice(gradient.clone(), &[Slice::from(regions)]);
        let gradient = depths.features_gradient(cast::<B>(gradient, wide(dtype)), None);
        let gradient = B::float_reshape(gradient, slices.output_shape());
        slices.features_gradient(gradient, None)
    });
    let sum = of_parts.reduce(B::float_add).expect("there is a part");
    cast::<B>(sum, dtype.into())
}

/// The dtype that elements of a dtype are summed in.
fn wide(dtype: DType) -> FloatDType {
    match dtype {
        DType::F16 | DType::BF16 => FloatDType::F32,
        dtype => dtype.into(),
    }
}

/// The bytes of the pooled slices of a region in a channel. A maximum first has its samples along the depth, which can
/// be more than slices.
fn slice_bytes<B: RegionKernels>(depths: &RegionCall<B>) -> usize {
    let [_, _, depth, elements] = depths.features_shape;
    let rows = depth.max(depths.operator.output_size[0]);
    rows.saturating_mul(elements * depths.boxes.dtype().size().max(size_of::<f32>()))
}

/// Both operators of a call for parts of its channels, if a region is more than a part.
fn parts_of_channels<B: RegionKernels>(
    slices: &RegionCall<B>,
    depths: &RegionCall<B>,
) -> Option<impl Iterator<Item = (Range<usize>, [RegionCall<B>; 2])>> {
    let [_, channels, depth, _] = depths.features_shape;
    let part = (SLICE_BYTES / slice_bytes(depths).max(1)).max(1);
    let parts = (0..channels).step_by(part).map(move |start| {
        let channels = start..(start + part).min(channels);
        let [mut slices, mut depths] = [slices.clone(), depths.clone()];
        slices.features_shape[1] = channels.len() * depth;
        depths.features_shape[1] = channels.len();
        (channels, [slices, depths])
    });
    (part < channels).then_some(parts)
}

/// Both operators of a call for parts of its regions: one part if there are none.
fn parts<B: RegionKernels>(slices: &RegionCall<B>, depths: &RegionCall<B>) -> impl Iterator<Item = [RegionCall<B>; 2]> {
    let [regions, channels, ..] = depths.features_shape;
    let bytes = slice_bytes(depths).saturating_mul(channels);
    let at_a_time = (SLICE_BYTES / bytes.max(1)).max(1);
    let part = regions.div_ceil(regions.div_ceil(at_a_time).max(1)).max(1);
    (0..regions.max(1)).step_by(part).map(move |start| {
        let regions = start..(start + part).min(regions);
        let mut depths = of_part(depths, &regions, true);
        depths.features_shape[0] = regions.len();
        [of_part(slices, &regions, false), depths]
    })
}

/// Some channels of a tensor.
fn narrow<B: RegionKernels>(tensor: &FloatTensor<B>, channels: Range<usize>) -> FloatTensor<B> {
    B::float_slice(tensor.clone(), &[Slice::full(), Slice::from(channels)])
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

/// Pools maps, of which there may be none.
fn pool_maps<B: RegionKernels>(maps: FloatTensor<B>, call: RegionCall<B>) -> FloatTensor<B> {
    let is_empty = |shape: &Shape| shape.iter().any(|&size| size == 0);
    match is_empty(&maps.shape()) || is_empty(&call.output_shape()) {
        true => B::without_pixels(maps, call),
        false => B::pool(maps, call),
    }
}

impl MaximumOfSamples {
    /// From samples `[K, C, .., ..]` to elements `[K, C, P, Q * R]`.
    fn of<B: RegionKernels>(&self, samples: FloatTensor<B>) -> FloatTensor<B> {
        let [regions, channels, ..] = samples.shape().dims::<4>();
        let ([planes, rows, columns], [z, y, x]) = (self.output_size, self.samples);
        let shape = |sizes: [usize; 4]| Shape::new(sizes);
        let elements = shape([regions, channels, planes, rows * columns]);
        if elements.num_elements() == 0 {
            return B::float_reshape(samples, elements);
        }
        let slices = shape([regions, channels * planes * z, rows * y, columns * x]);
        let slices = largest::<B>(B::float_reshape(samples, slices), [y, x]);
        let planes = shape([regions, channels * planes, z, rows * columns]);
        let pooled = largest::<B>(B::float_reshape(slices, planes), [z, 1]);
        let pooled = B::float_reshape(pooled, elements);
        match self.from_zero {
            true => B::float_clamp_min(pooled, Scalar::from(0.0)),
            false => pooled,
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
