//! A message of a client, checked: the tensors, which it may name wrongly or lie about, and the operator.

use burn::backend::TensorMetadata;
use burn::tensor::{DType, Shape};
use burn_ir::{BackendIr, CustomOpIr, HandleContainer, TensorIr, TensorStatus};

use super::refused::Refused;
use super::{options, tensors};
use crate::backend::remote::kernel::Kernel;
use crate::backend::remote::message::{Operation, decode};
use crate::backend::{RegionCall, RoiBackend};

/// The kernel that a message asks for, and the call that it takes.
///
/// # Errors
///
/// [`Refused`].
pub fn read<B: RoiBackend + BackendIr>(
    operation: Operation,
    handles: &mut HandleContainer<B::Handle>,
    message: &CustomOpIr,
) -> Result<(Kernel<B>, RegionCall<B>), Refused> {
    let operator = decode(&message.scalars)?;
    options::check(&operator)?;
    let arguments = operation.arguments();
    let (inputs, outputs) = (&message.inputs, &message.outputs);
    if [inputs.len(), outputs.len()] != [arguments.len(), 1] {
        return Err(Refused::Count {
            inputs: inputs.len(),
            outputs: outputs.len(),
            expected: arguments.len(),
        });
    }
    let mut float = |place: usize| {
        let (tensor, get) = (&inputs[place], HandleContainer::get_float_tensor::<B>);
        take(handles, arguments[place], tensor, tensor.dtype.is_float(), get)
    };
    let (first, boxes) = (float(0)?, float(1)?);
    let last = (inputs.len() > 3).then(|| float(3));
    let (indices, get) = (&inputs[2], HandleContainer::get_int_tensor::<B>);
    let is_int = indices.dtype.is_int() || indices.dtype.is_uint();
    let batch_indices = take(handles, arguments[2], indices, is_int, get)?;
    let (features, like_output) = match operation {
        Operation::AverageGradient => (None, Some(first)),
        _ => (Some(first), last.transpose()?),
    };
    let kernel = Kernel {
        operation,
        features,
        like_output,
    };
    let call = tensors::call(&kernel, boxes, batch_indices, operator, &outputs[0].shape)?;
    let (shape, dtype) = kernel.output(&call);
    described("output", &outputs[0], shape, dtype)?;
    Ok((kernel, call))
}

/// Takes a tensor out of the session, or shares it, as the message says. The session must have it, and it must be of
/// the kind that the argument has.
fn take<H: Clone, T: TensorMetadata>(
    handles: &mut HandleContainer<H>,
    argument: &'static str,
    tensor: &TensorIr,
    of_kind: bool,
    get: impl Fn(&mut HandleContainer<H>, &TensorIr) -> T,
) -> Result<T, Refused> {
    if let Some(error) = handles.error(&tensor.id).cloned() {
        return Err(Refused::Upstream { argument, error });
    }
    if !handles.has_handle(&tensor.id) || tensor.status == TensorStatus::NotInit {
        let id = tensor.id.value();
        return Err(Refused::Missing { argument, id });
    }
    if !of_kind {
        return Err(Refused::Kind {
            argument,
            dtype: tensor.dtype,
        });
    }
    let found = get(handles, tensor);
    described(argument, tensor, found.shape(), found.dtype())?;
    Ok(found)
}

/// Checks that a tensor is what the message says.
fn described(argument: &'static str, tensor: &TensorIr, shape: Shape, dtype: DType) -> Result<(), Refused> {
    if tensor.shape == shape && tensor.dtype == dtype {
        return Ok(());
    }
    Err(Refused::Described {
        argument,
        described: format!("{:?} of {:?}", tensor.shape.to_vec(), tensor.dtype),
        found: format!("{:?} of {dtype:?}", shape.to_vec()),
    })
}
