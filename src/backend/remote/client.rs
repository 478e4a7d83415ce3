//! Operations that a client queues.

use burn::backend::tensor::{Device, FloatTensor};
use burn::backend::{Remote, TensorMetadata};
use burn::remote::CustomOpClient;
use burn::tensor::{DType, Shape};
use burn_ir::{CustomOpIr, ScalarIr, TensorIr};

use super::message::{self, Operation};
use crate::geometry::operator::RegionOperator;

/// Queues an operation with one output, of the dtype of its first input.
pub fn send<const INPUTS: usize>(
    operation: Operation,
    operator: &RegionOperator,
    inputs: [FloatTensor<Remote>; INPUTS],
    shape: Shape,
) -> FloatTensor<Remote> {
    let dtype = inputs[0].dtype();
    send_for(operation, operator, inputs, shape, dtype)
}

/// Queues an operation with one output.
pub fn send_for<const INPUTS: usize>(
    operation: Operation,
    operator: &RegionOperator,
    inputs: [FloatTensor<Remote>; INPUTS],
    shape: Shape,
    dtype: DType,
) -> FloatTensor<Remote> {
    let device = inputs[0].device();
    let inputs = inputs.map(FloatTensor::<Remote>::into_ir);
    register(
        &device,
        operation.id(),
        &inputs,
        shape,
        dtype,
        message::encode(operator),
    )
}

/// Queues an operation of any scalars.
pub fn register(
    device: &Device<Remote>,
    id: &'static str,
    inputs: &[TensorIr],
    shape: Shape,
    dtype: DType,
    scalars: Vec<ScalarIr>,
) -> FloatTensor<Remote> {
    let client = CustomOpClient::new(device);
    let output = TensorIr::uninit(client.create_empty_handle(), shape, dtype);
    let operation = CustomOpIr::with_scalars(id, inputs, &[output], scalars);
    client.register(operation).remove(0)
}
