//! The tensors of a client's message, checked as the `try_` functions check their arguments.

use burn::backend::TensorMetadata;
use burn::tensor::{DType, Shape};

use super::call::Call;
use super::refused::Refused;
use crate::backend::remote::message::Operation;
use crate::backend::{RoiBackend, output_shape};
use crate::error::RoiError;
use crate::geometry::options::Reduction;
use crate::memory;
use crate::ops::arguments::{check_dtypes, check_features, pooled_shape, reads_nothing};
use crate::regions::{Regions, same_device, same_dtype, shape};

/// Checks the tensors of a call, and that it has something to compute.
///
/// # Errors
///
/// [`Refused`].
pub fn check<B: RoiBackend>(call: &Call<B>) -> Result<(), Refused> {
    check_gradient(call)?;
    let regions = regions(call)?;
    let features = match call.operation {
        Operation::AverageGradient => {
            let device = (call.first.device(), call.boxes.device());
            same_device("output_gradient", &device.0, "boxes", &device.1)?;
            check_dtypes::<B>(&call.first, &regions)?;
            let fits = call.output.num_dims() == 4;
            shape("the gradient of `features`", &call.output, "[N, C, H, W]", fits)?;
            call.output.clone()
        }
        _ => {
            check_features::<B>(&call.first, &regions)?;
            call.first.shape()
        }
    };
    let pooled = pooled_shape::<B>(&features, &regions, &call.operator)?;
    if reads_nothing(&features, &pooled) {
        return Err(Refused::Nothing);
    }
    check_like_pooled(call, &pooled)?;
    let (shape, dtype) = output(call);
    Ok(memory::check::<B>("output", &shape, dtype, &call.boxes.device())?)
}

/// The shape and the dtype of the output, of a call that is right.
pub fn output<B: RoiBackend>(call: &Call<B>) -> (Shape, DType) {
    let dtype = match call.operation {
        Operation::BoxesGradient => call.boxes.dtype(),
        _ => call.first.dtype(),
    };
    let shape = match call.operation {
        Operation::Pool | Operation::PoolLevel => {
            output_shape(call.first.shape().dims(), call.boxes.shape()[0], &call.operator)
        }
        Operation::AverageGradient => call.output.clone(),
        Operation::MaximumGradient => call.first.shape(),
        Operation::BoxesGradient => call.boxes.shape(),
    };
    (shape, dtype)
}

/// Checks that the operator has the gradient that is asked for.
fn check_gradient<B: RoiBackend>(call: &Call<B>) -> Result<(), Refused> {
    let averages = call.operator.reduction == Reduction::Average;
    let (fits, expected) = match call.operation {
        Operation::Pool | Operation::PoolLevel => (true, ""),
        Operation::AverageGradient => (averages, "averages"),
        Operation::MaximumGradient => (!averages, "takes a maximum"),
        Operation::BoxesGradient => (call.operator.moves_with_boxes(), "reads between pixels"),
    };
    if fits {
        return Ok(());
    }
    Err(Refused::Gradient {
        operation: call.operation.id(),
        expected,
        operator: format!("{:?}", call.operator),
    })
}

/// The regions, with as many columns as the operator has.
fn regions<B: RoiBackend>(call: &Call<B>) -> Result<Regions<B>, RoiError> {
    let boxes = call.boxes.shape();
    let kind = call.operator.region_kind();
    let fits = boxes.num_dims() == 2 && boxes[1] == kind.columns();
    shape("boxes", &boxes, "[K, columns], with the columns of the operator", fits)?;
    Regions::try_new(call.boxes.clone(), call.batch_indices.clone(), kind)
}

/// Checks the tensor that has the output's shape: what finer levels have pooled, or the gradient of the output.
fn check_like_pooled<B: RoiBackend>(call: &Call<B>, pooled: &Shape) -> Result<(), RoiError> {
    let (argument, tensor) = match (call.operation, &call.last) {
        (Operation::AverageGradient, _) => ("output_gradient", &call.first),
        (Operation::PoolLevel, Some(last)) => ("pooled", last),
        (_, Some(last)) => ("output_gradient", last),
        (_, None) => return Ok(()),
    };
    let found = tensor.shape();
    shape(
        argument,
        &found,
        "[K, channels, P, Q], that of the operator's output",
        found == *pooled,
    )?;
    same_device(argument, &tensor.device(), "boxes", &call.boxes.device())?;
    same_dtype(argument, tensor.dtype(), "features", call.first.dtype())
}
