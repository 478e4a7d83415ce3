//! Region operators as compositions of tensor operations: the default for any Burn backend.
//!
//! Boxes are read to the host and planned there. Of each image, the pixels that its regions cover are laid
//! out with channels last, so that a window's rows are long runs of memory; the backend's own slices,
//! products and maxima then work on one region after another. Memory is bounded: a block of channels at a
//! time passes through, and results are written in groups.

use std::ops::Range;

use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{DType, Element, FloatDType};

use super::host::Region;
use crate::geometry::convention::{AreaRange, Reduction, RegionBins, RegionSamples};
use crate::geometry::plan::Coordinate;

mod average;
mod bins;
mod call;
mod maximum;
mod pixels;

use average::Average;
use bins::Bins;
use call::Call;
use maximum::Maximum;
use pixels::Pixels;

/// See [`RegionKernels::sample_regions`](super::RegionKernels::sample_regions).
pub(super) fn sample_regions<B: Backend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    sampling: &RegionSamples,
) -> FloatTensor<B> {
    sample_into::<B>(None, features, boxes, batch_indices, sampling)
}

/// See [`RegionKernels::sample_level`](super::RegionKernels::sample_level).
pub(super) fn sample_level<B: Backend>(
    pooled: FloatTensor<B>,
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    sampling: &RegionSamples,
) -> FloatTensor<B> {
    sample_into::<B>(Some(pooled), features, boxes, batch_indices, sampling)
}

fn sample_into<B: Backend>(
    pooled: Option<FloatTensor<B>>,
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    sampling: &RegionSamples,
) -> FloatTensor<B> {
    match features.dtype() {
        DType::F64 => sample::<B, f64>(pooled, features, boxes, batch_indices, sampling),
        _ => sample::<B, f32>(pooled, features, boxes, batch_indices, sampling),
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
        DType::F64 => pool::<B, f64>(features, boxes, batch_indices, bins),
        _ => pool::<B, f32>(features, boxes, batch_indices, bins),
    }
}

fn sample<B: Backend, R: Sum>(
    pooled: Option<FloatTensor<B>>,
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    sampling: &RegionSamples,
) -> FloatTensor<B> {
    let [_, _, height, width] = features.shape().dims();
    let map = [height, width];
    let call = Call::<B, R>::new(
        features,
        boxes,
        batch_indices,
        sampling.output_size,
        sampling.columns,
        &sampling.areas,
    );
    match sampling.reduction {
        Reduction::Average => call.run(pooled, &Average::new(sampling, map)),
        _ => call.run(pooled, &Maximum::new(sampling, map)),
    }
}

fn pool<B: Backend, R: Sum>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    bins: &RegionBins,
) -> FloatTensor<B> {
    let [_, _, height, width] = features.shape().dims();
    Call::<B, R>::new(
        features,
        boxes,
        batch_indices,
        bins.output_size,
        [0, 1, 2, 3],
        &AreaRange::ALL,
    )
    .run(None, &Bins::new(bins, [height, width]))
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

/// An operator on regions of an image.
trait Operator<R> {
    /// What of a region is common to its channels.
    type Plan;

    /// Whether the regions of an image are computed together, rather than in groups: where what they
    /// share costs more than what they don't.
    const AT_ONCE: bool;

    /// Plans a region.
    fn plan(&self, region: &Region<R>) -> Self::Plan;

    /// The rows and the columns of the map that a region reads.
    fn window(&self, plan: &Self::Plan) -> [Range<usize>; 2];

    /// The value of a region that reads no pixel.
    fn outside(&self) -> f64;

    /// The results `[K, P * Q, C]` of planned regions that read some pixel.
    fn compute<B: Backend>(&self, pixels: &Pixels<B>, plans: &[Self::Plan]) -> FloatTensor<B>;
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
