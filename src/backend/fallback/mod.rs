//! Region operators from tensor operations of any Burn backend: what a backend without kernels inherits.
//!
//! Regions are planned on the host. Of each image, the pixels that its regions read are copied with channels last, so
//! that a window's rows are long runs of memory; the backend's own slices, products and maxima then work on one region
//! after another. Memory is bounded: a block of channels at a time passes through, and results are written in groups.
//!
//! - [`schedule`]: which regions are computed together, in which blocks of channels.
//! - [`channels_last`]: the copied pixels.
//! - [`backward`]: gradients, from products with the same weights.
//! - [`points`]: operators whose elements read points, and their gradients.
//! - [`average`], [`max_of_samples`], [`max_of_pixels`]: the kernels, one for each kind of plan.

use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{DType, Element, FloatDType, Scalar, Shape, Slice};

use super::{HostRegions, output_shape};
use crate::geometry::operator::RegionOperator;
use crate::geometry::plan::{AxisPlan, Coordinate, PlanKind, Planner, PointPlanner};

mod average;
mod backward;
mod channels_last;
mod max_of_pixels;
mod max_of_samples;
mod points;
mod schedule;

pub(super) use backward::{average_gradient, boxes_gradient, maximum_gradient};

use average::Average;
use channels_last::ChannelsLast;
use max_of_pixels::{MaxOfPixels, from_start};
use max_of_samples::MaxOfSamples;
use schedule::Schedule;

/// See [`RegionKernels::pool`](super::RegionKernels::pool) and
/// [`pool_level`](super::RegionKernels::pool_level), which is given what other levels have pooled.
pub(super) fn pool<B: Backend>(
    pooled: Option<FloatTensor<B>>,
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    _batch_indices: IntTensor<B>,
    regions: Option<HostRegions>,
    operator: &RegionOperator,
) -> FloatTensor<B> {
    let regions = regions.expect("the regions of a backend without kernels are read");
    let shape = output_shape(&features.shape(), &boxes.shape(), operator);
    match features.dtype() {
        DType::F64 => pool_in::<B, f64>(pooled, features, regions, shape, operator),
        _ => pool_in::<B, f32>(pooled, features, regions, shape, operator),
    }
}

fn pool_in<B: Backend, R: Sum>(
    pooled: Option<FloatTensor<B>>,
    features: FloatTensor<B>,
    regions: HostRegions,
    shape: Shape,
    operator: &RegionOperator,
) -> FloatTensor<B> {
    let [_, channels, height, width] = features.shape().dims();
    if let Some(planner) = PointPlanner::new(operator, [height, width]) {
        return points::pool::<B, R>(pooled, features, regions, shape, &planner, operator.channel_map);
    }
    let planner = Planner::<R>::new(operator, [height, width]);
    let features = match planner.kind() {
        PlanKind::PixelRanges => from_start::<B>(features, planner.maximum_from().into()),
        PlanKind::Weights | PlanKind::SampleTaps => features,
    };
    // Elements that read no pixel keep this value, which the first level gives to all.
    let value = operator.value_without_pixels();
    let mut output = pooled.unwrap_or_else(|| filled::<B>(&features, shape.clone(), value));
    let step = channels / shape[1];
    for rows in planner.runs(0) {
        for columns in planner.runs(1) {
            let first = planner
                .channel_map()
                .first_channel([rows.start, columns.start], shape[3]);
            let schedule = Schedule::<B, R> {
                features: every_channel::<B>(&features, first, step),
                regions: &regions,
                planner: &planner,
                elements: [rows.clone(), columns],
                shape: shape.clone(),
            };
            output = match planner.kind() {
                PlanKind::Weights => schedule.run(output, &Average::new(&planner)),
                PlanKind::SampleTaps => schedule.run(output, &MaxOfSamples::new(&planner)),
                PlanKind::PixelRanges => schedule.run(output, &MaxOfPixels::new(&planner)),
            };
        }
    }
    output
}

/// An output of one value.
fn filled<B: Backend>(features: &FloatTensor<B>, shape: Shape, value: f64) -> FloatTensor<B> {
    let (device, dtype): (_, FloatDType) = (features.device(), features.dtype().into());
    match value {
        0.0 => B::float_zeros(shape, &device, dtype),
        value => B::float_full(shape, Scalar::from(value), &device, dtype),
    }
}

/// Every `step`th channel of features, from the first one on.
fn every_channel<B: Backend>(features: &FloatTensor<B>, first: usize, step: usize) -> FloatTensor<B> {
    if step == 1 {
        return features.clone();
    }
    let channels = Slice::new(first as isize, None, step as isize);
    B::float_slice(
        features.clone(),
        &[Slice::full(), channels, Slice::full(), Slice::full()],
    )
}

/// The type that weights and sums have on a backend: f32, or f64 for features of f64.
trait Sum: Coordinate + Element + Into<f64> {
    const DTYPE: FloatDType;
}

impl Sum for f32 {
    const DTYPE: FloatDType = FloatDType::F32;
}

impl Sum for f64 {
    const DTYPE: FloatDType = FloatDType::F64;
}

/// How output elements are computed from what they read.
trait Kernel<R: Coordinate>: Sync {
    /// What of a region's axis is common to its channels.
    type Plan: AxisPlan<R>;

    /// Whether the regions of an image are computed together, rather than in groups: where what they
    /// share costs more than what they don't.
    const AT_ONCE: bool;

    /// The results `[K, elements, C]` of planned regions that read some pixel.
    fn compute<B: Backend>(&self, pixels: &ChannelsLast<B>, plans: &[[Self::Plan; 2]]) -> FloatTensor<B>;
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
