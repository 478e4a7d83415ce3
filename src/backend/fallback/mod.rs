//! Region operators from tensor operations of any Burn backend: what a backend without kernels inherits.
//!
//! Regions are planned on the host. Of each image, the pixels that its regions read are copied with channels last, so
//! that a window's rows are long runs of memory; the backend's own slices, products and maxima then work on one region
//! after another. Memory is bounded: channels are computed in blocks, and regions in groups.
//!
//! - [`tensors`]: tensor operations that all kernels use.
//! - [`planned`]: the plans of an image's regions.
//! - [`schedule`]: which regions are computed together, in which blocks of channels.
//! - [`channels_last`]: the copied pixels. [`matrices`]: their products with what elements read along each axis.
//! - [`average`], [`max_of_samples`], [`max_of_pixels`]: the kernels, one for each kind of plan.
//! - [`backward`]: gradients, from products with the same weights.
//! - [`points`]: operators whose elements read points, and their gradients.
//! - [`volume`]: operators of volumes, from those of maps.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::DType;

use super::RegionCall;
use crate::geometry::plan::{PixelRanges, PlanKind, Planner, SampleTaps, Weights};

mod average;
mod backward;
mod channels_last;
mod matrices;
mod max_of_pixels;
mod max_of_samples;
mod planned;
mod points;
mod schedule;
mod tensors;
mod volume;

pub use tensors::{cast, of_channels, wide};

pub(super) use backward::{boxes_gradient, features_gradient};
pub(super) use volume::{pool_volumes, volumes_gradient};

use max_of_pixels::from_start;
use schedule::Schedule;
use tensors::Number;

/// See [`RegionKernels::pool`](super::RegionKernels::pool) and
/// [`pool_level`](super::RegionKernels::pool_level), whose `pooled` has the results of other levels.
pub(super) fn pool<B: Backend>(
    pooled: Option<FloatTensor<B>>,
    features: FloatTensor<B>,
    call: RegionCall<B>,
) -> FloatTensor<B> {
    match features.dtype() {
        DType::F64 => pool_in::<B, f64>(pooled, features, &call),
        _ => pool_in::<B, f32>(pooled, features, &call),
    }
}

fn pool_in<B: Backend, R: Number>(
    pooled: Option<FloatTensor<B>>,
    features: FloatTensor<B>,
    call: &RegionCall<B>,
) -> FloatTensor<B> {
    let planner = Planner::<R>::new(&call.operator, call.features_shape);
    match planner.kind() {
        PlanKind::Weights => Schedule::new(features, call, &planner).run::<Weights<R>>(pooled),
        PlanKind::SampleTaps => Schedule::new(features, call, &planner).run::<SampleTaps<R>>(pooled),
        PlanKind::PixelRanges => {
            let features = from_start::<B>(features, planner.values().start.into());
            Schedule::new(features, call, &planner).run::<PixelRanges>(pooled)
        }
        PlanKind::Points => points::pool::<B, R>(pooled, features, call, &planner),
    }
}
