//! Running a client's message: read and checked, computed by the backend's own kernels, or refused.

use burn::backend::tensor::FloatTensor;
use burn::backend::{ExecutionError, TensorMetadata};
use burn::tensor::TensorData;
use burn_ir::{BackendIr, CustomOpIr, HandleContainer, TensorError};

use super::refused::Refused;
use super::{host, message};
use crate::backend::remote::kernel::Kernel;
use crate::backend::remote::message::{Operation, VERSION};
use crate::backend::remote::server::{ANSWER, DTYPES};
use crate::backend::{DeviceKind, RegionCall, RoiBackend};

/// Runs a message, whose output then holds the result, or the reason why there is none.
pub fn run<B: RoiBackend + BackendIr>(
    operation: Operation,
    handles: &mut HandleContainer<B::Handle>,
    message: &CustomOpIr,
) {
    match message::read::<B>(operation, handles, message).and_then(compute) {
        Ok(output) => handles.register_float_tensor::<B>(&message.outputs[0].id, output),
        Err(refused) => refuse(handles, message, &refused),
    }
}

fn compute<B: RoiBackend>((kernel, call): (Kernel<B>, RegionCall<B>)) -> Result<FloatTensor<B>, Refused> {
    match B::device_kind(&call.boxes.device()) {
        DeviceKind::Host => Ok(host::compute(kernel, call)?),
        _ => Ok(kernel.run(call)),
    }
}

/// Leaves the outputs without data: using one ends the session, with this reason in the server's log. The inputs that
/// the client has given up are freed, since it will not free them.
fn refuse<H: Clone>(handles: &mut HandleContainer<H>, message: &CustomOpIr, refused: &Refused) {
    for input in &message.inputs {
        handles.free(input);
    }
    let error = match refused {
        Refused::Upstream { error, .. } => error.propagated(),
        refused => TensorError::new(ExecutionError::generic(format!(
            "burn-roi refused {}: {refused}",
            message.id
        ))),
    };
    for output in &message.outputs {
        handles.set_error(output.id, error.clone());
    }
}

/// Answers what this server can do. The shape of the answer is the client's to know.
pub fn about<B: RoiBackend + BackendIr>(
    handles: &mut HandleContainer<B::Handle>,
    message: &CustomOpIr,
    device: &B::Device,
) {
    let pools = DTYPES.map(|dtype| f32::from(u8::from(B::pools_dtype(device, dtype))));
    let answer: Vec<f32> = [VERSION as f32].into_iter().chain(pools).collect();
    for output in &message.outputs {
        let answer = B::float_from_data(TensorData::new(answer.clone(), ANSWER), device);
        handles.register_float_tensor::<B>(&output.id, answer);
    }
}
