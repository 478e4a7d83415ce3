//! Operations that a client queues.

use burn::backend::tensor::{Device, FloatTensor};
use burn::backend::{Remote, TensorMetadata};
use burn::remote::CustomOpClient;
use burn::tensor::{DType, Shape};
use burn_ir::{CustomOpIr, ScalarIr, TensorIr};

use super::message::{self, Operation};
use crate::backend::RegionCall;

/// Queues an operation with one output. Its tensors are `first`, the regions and, if there is one, `last`.
pub fn send(
    operation: Operation,
    first: FloatTensor<Remote>,
    call: RegionCall<Remote>,
    last: Option<FloatTensor<Remote>>,
    shape: Shape,
    dtype: DType,
) -> FloatTensor<Remote> {
    let device = first.device();
    let inputs = [first, call.boxes, call.batch_indices].into_iter().chain(last);
    let inputs: Vec<_> = inputs.map(FloatTensor::<Remote>::into_ir).collect();
    register(
        &device,
        operation.id(),
        &inputs,
        shape,
        dtype,
        message::encode(&call.operator),
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
