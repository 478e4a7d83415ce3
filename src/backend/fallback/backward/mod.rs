//! Gradients from tensor operations of any Burn backend.
//!
//! What a region reads in a block of channels is linear once the winners of maxima are known: `Y · F · Xᵀ`, where F is
//! its window, and a row of Y or X is an element's weights or a sample's. With D, the gradient of each of these:
//!
//! - the gradient of the window is `Yᵀ · D · X`;
//! - the gradient of an end of the region is the sum of `D` times `Y' · F · Xᵀ`, with the derivatives of the weights in
//!   Y'.
//!
//! [`LinearReads`](reads::LinearReads) has these matrices and D. [`reads`] makes them of averages,
//! [`max_of_samples`] of maxima, and [`call`] adds up the gradients. A maximum over bins of whole pixels has none:
//! [`max_of_pixels`] finds one pixel for each bin, on the host.

pub mod call;
mod max_of_pixels;
mod max_of_samples;
mod reads;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::DType;

use super::points;
use super::tensors::{Number, cast};
use crate::backend::RegionCall;
use crate::geometry::plan::{PlanKind, SampleTaps, Weights};
use call::GradientCall;

/// See [`RegionKernels::average_gradient`](crate::backend::RegionKernels::average_gradient), and
/// [`maximum_gradient`](crate::backend::RegionKernels::maximum_gradient), which has `features`.
pub fn features_gradient<B: Backend>(
    gradient: FloatTensor<B>,
    features: Option<FloatTensor<B>>,
    call: RegionCall<B>,
) -> FloatTensor<B> {
    match gradient.dtype() {
        DType::F64 => GradientCall::<B, f64>::new(gradient, features, &call).gradient_of_features(),
        _ => GradientCall::<B, f32>::new(gradient, features, &call).gradient_of_features(),
    }
}

/// See [`RegionKernels::boxes_gradient`](crate::backend::RegionKernels::boxes_gradient).
pub fn boxes_gradient<B: Backend>(
    gradient: FloatTensor<B>,
    features: FloatTensor<B>,
    call: RegionCall<B>,
) -> FloatTensor<B> {
    let box_gradient = match gradient.dtype() {
        DType::F64 => GradientCall::<B, f64>::new(gradient, Some(features), &call).gradient_of_boxes(),
        _ => GradientCall::<B, f32>::new(gradient, Some(features), &call).gradient_of_boxes(),
    };
    cast::<B>(box_gradient, call.boxes.dtype().into())
}

impl<B: Backend, R: Number> GradientCall<'_, B, R> {
    fn gradient_of_features(&self) -> FloatTensor<B> {
        match self.planner.kind() {
            PlanKind::Weights => self.features_gradient::<Weights<R>>(),
            PlanKind::SampleTaps => self.features_gradient::<SampleTaps<R>>(),
            PlanKind::PixelRanges => self.gradient_of_largest_pixels(),
            PlanKind::Points => points::features_gradient(self),
        }
    }

    /// In the dtype of sums.
    fn gradient_of_boxes(&self) -> FloatTensor<B> {
        match self.planner.kind() {
            PlanKind::Weights => self.boxes_gradient::<Weights<R>>(),
            PlanKind::SampleTaps => self.boxes_gradient::<SampleTaps<R>>(),
            PlanKind::PixelRanges => unreachable!("bins do not move with a box"),
            PlanKind::Points => points::regions_gradient(self),
        }
    }
}
