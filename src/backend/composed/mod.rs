//! Region operators as compositions of tensor operations: the default for any Burn backend.
//!
//! Boxes are read to the host, regions are planned there, and their pixels are worked on by the
//! backend's own slices, products and maxima, one region after another. Memory is bounded: a block of
//! channels at a time passes through, and results are collected in groups.

use burn::backend::Backend;
use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::{DType, Element, FloatDType, Scalar, Shape, Slice, TensorData};
use std::ops::Range;

use super::host::{Region, regions};
use crate::geometry::convention::{Reduction, RegionBins, RegionSamples};
use crate::geometry::plan::Coordinate;

mod average;
mod bins;
mod maximum;

/// How many numbers an intermediate tensor holds at most, 16 MiB of f32: with the few that are alive
/// at once, far below the 256 MiB that a call may take beyond its input and output.
const BLOCK: usize = 1 << 22;

/// See [`RegionKernels::sample_regions`](super::RegionKernels::sample_regions).
pub(super) fn sample_regions<B: Backend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    sampling: &RegionSamples,
) -> FloatTensor<B> {
    match (features.dtype(), sampling.reduction) {
        (DType::F64, Reduction::Average) => {
            average::sample::<B, f64>(features, boxes, batch_indices, sampling)
        }
        (DType::F64, _) => maximum::sample::<B, f64>(features, boxes, batch_indices, sampling),
        (_, Reduction::Average) => {
            average::sample::<B, f32>(features, boxes, batch_indices, sampling)
        }
        _ => maximum::sample::<B, f32>(features, boxes, batch_indices, sampling),
    }
}

/// See [`RegionKernels::pool_regions`](super::RegionKernels::pool_regions).
pub(super) fn pool_regions<B: Backend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    bins: &RegionBins,
) -> FloatTensor<B> {
    match features.dtype() {
        DType::F64 => bins::pool::<B, f64>(features, boxes, batch_indices, bins),
        _ => bins::pool::<B, f32>(features, boxes, batch_indices, bins),
    }
}

/// The type that weights and sums have on a backend: f32, or f64 for features of f64.
trait Sum: Coordinate + Element + Default + Into<f64> {
    const DTYPE: FloatDType;

    /// A value of an option in this type.
    fn from_f64(value: f64) -> Self;
}

impl Sum for f32 {
    const DTYPE: FloatDType = FloatDType::F32;

    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Sum for f64 {
    const DTYPE: FloatDType = FloatDType::F64;

    fn from_f64(value: f64) -> Self {
        value
    }
}

/// The features of a call and what is common to its regions.
struct Call<B: Backend> {
    features: FloatTensor<B>,
    channels: usize,
    map: [usize; 2],
    output_size: [usize; 2],
}

impl<B: Backend> Call<B> {
    fn new(features: FloatTensor<B>, output_size: [usize; 2]) -> Self {
        let [_, channels, height, width] = features.shape().dims();
        Self {
            features,
            channels,
            map: [height, width],
            output_size,
        }
    }

    /// The pixels `[channels, height, width]` of a window, in the dtype of sums.
    fn window<R: Sum>(
        &self,
        image: usize,
        channels: Range<usize>,
        y: Range<usize>,
        x: Range<usize>,
    ) -> FloatTensor<B> {
        let shape = Shape::new([channels.len(), y.len(), x.len()]);
        let slices = [image..image + 1, channels, y, x].map(Slice::from);
        let window = B::float_slice(self.features.clone(), &slices);
        B::float_reshape(cast::<B>(window, R::DTYPE), shape)
    }

    /// A tensor of values computed on the host.
    fn constant<R: Sum, const D: usize>(
        &self,
        values: Vec<R>,
        shape: [usize; D],
    ) -> FloatTensor<B> {
        B::float_from_data(TensorData::new(values, shape), &self.features.device())
    }

    /// A tensor `[channels, P, Q]` of one value.
    fn full<R: Sum>(&self, channels: usize, value: f64) -> FloatTensor<B> {
        let [height, width] = self.output_size;
        B::float_full(
            Shape::new([channels, height, width]),
            Scalar::from(value),
            &self.features.device(),
            R::DTYPE,
        )
    }

    /// All channels in blocks of `block`, side by side: `[C, P, Q]`.
    fn by_channels(
        &self,
        block: usize,
        compute: impl Fn(Range<usize>) -> FloatTensor<B>,
    ) -> FloatTensor<B> {
        let block = block.clamp(1, self.channels);
        let parts = (0..self.channels)
            .step_by(block)
            .map(|start| compute(start..(start + block).min(self.channels)))
            .collect();
        concatenate::<B>(parts, 0)
    }

    /// The results `[C, P, Q]` of all regions as the output `[K, C, P, Q]`.
    fn collect<R: Sum>(
        &self,
        regions: &[Region<R>],
        mut compute: impl FnMut(&Region<R>) -> FloatTensor<B>,
    ) -> FloatTensor<B> {
        let [height, width] = self.output_size;
        let shape = |regions| Shape::new([regions, self.channels, height, width]);
        let dtype: FloatDType = self.features.dtype().into();
        let mut group = |regions: &[Region<R>]| {
            let parts = regions.iter().map(&mut compute).collect();
            let group = B::float_reshape(concatenate::<B>(parts, 0), shape(regions.len()));
            cast::<B>(group, dtype)
        };

        let of_a_group = (BLOCK / (self.channels * height * width)).max(1);
        if regions.len() <= of_a_group {
            return group(regions);
        }
        // Written in place, group by group: one concatenation at the end would hold the output twice.
        let device = self.features.device();
        let mut output = B::float_empty(shape(regions.len()), &device, dtype);
        for (number, part) in regions.chunks(of_a_group).enumerate() {
            let start = number * of_a_group;
            let rows = Slice::from(start..start + part.len());
            output = B::float_slice_assign(output, &[rows], group(part));
        }
        output
    }
}

/// Reads the regions of a call in the type of sums.
fn read<B: Backend, R: Sum>(
    features: &FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    columns: [usize; 4],
) -> Vec<Region<R>> {
    regions::<B, R>(boxes, batch_indices, features.shape()[0], columns)
}

fn cast<B: Backend>(tensor: FloatTensor<B>, dtype: FloatDType) -> FloatTensor<B> {
    if tensor.dtype() == dtype.into() {
        return tensor;
    }
    B::float_cast(tensor, dtype)
}

fn concatenate<B: Backend>(mut parts: Vec<FloatTensor<B>>, dim: usize) -> FloatTensor<B> {
    match parts.len() {
        1 => parts.remove(0),
        _ => B::float_cat(parts, dim),
    }
}
