//! Operations that a client queues.

use burn::backend::tensor::{Device, FloatTensor};
use burn::backend::{Remote, TensorMetadata};
use burn::remote::CustomOpClient;
use burn::tensor::{DType, Shape};
use burn_ir::{CustomOpIr, ScalarIr, TensorIr};

use super::kernel::Kernel;
use super::message::{self, Operation};
use crate::backend::RegionCall;

/// Queues a kernel with the tensors that it takes.
pub fn send(
    operation: Operation,
    features: Option<FloatTensor<Remote>>,
    like_output: Option<FloatTensor<Remote>>,
    call: RegionCall<Remote>,
) -> FloatTensor<Remote> {
    let device = call.boxes.device();
    let kernel = Kernel::<Remote> {
        operation,
        features,
        like_output,
    };
    let (shape, dtype) = kernel.output(&call);
    let mut floats = kernel.features.into_iter().chain(kernel.like_output);
    let inputs = floats.next().into_iter().chain([call.boxes, call.batch_indices]);
    let inputs: Vec<_> = inputs.chain(floats).map(FloatTensor::<Remote>::into_ir).collect();
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
