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
    let ([first, boxes, batch_indices, last @ ..], [output]) = (&message.inputs[..], &message.outputs[..]) else {
        return Err(count(operation, message));
    };
    if message.inputs.len() != arguments.len() {
        return Err(count(operation, message));
    }
    let is_int = batch_indices.dtype.is_int() || batch_indices.dtype.is_uint();
    let mut float = |place: usize, tensor: &TensorIr| {
        let is_float = tensor.dtype.is_float();
        take(
            handles,
            arguments[place],
            tensor,
            is_float,
            HandleContainer::get_float_tensor::<B>,
        )
    };
    let (first, boxes) = (float(0, first)?, float(1, boxes)?);
    let last = last.first().map(|last| float(3, last));
    let batch_indices = take(
        handles,
        arguments[2],
        batch_indices,
        is_int,
        HandleContainer::get_int_tensor::<B>,
    )?;
    let (features, like_output) = match operation {
        Operation::AverageGradient => (None, Some(first)),
        _ => (Some(first), last.transpose()?),
    };
    let kernel = Kernel {
        operation,
        features,
        like_output,
    };
    let call = tensors::call(&kernel, boxes, batch_indices, operator, &output.shape)?;
    let (shape, dtype) = kernel.output(&call);
    described("output", output, shape, dtype)?;
    Ok((kernel, call))
}

fn count(operation: Operation, message: &CustomOpIr) -> Refused {
    Refused::Count {
        inputs: message.inputs.len(),
        outputs: message.outputs.len(),
        expected: operation.arguments().len(),
    }
}

/// Takes a tensor out of the session, or shares it, as the message says.
fn take<H: Clone, T: TensorMetadata>(
    handles: &mut HandleContainer<H>,
    argument: &'static str,
    tensor: &TensorIr,
    of_kind: bool,
    get: impl Fn(&mut HandleContainer<H>, &TensorIr) -> T,
) -> Result<T, Refused> {
    present(handles, argument, tensor, of_kind)?;
    let found = get(handles, tensor);
    described(argument, tensor, found.shape(), found.dtype())?;
    Ok(found)
}

/// Checks that the session has a tensor, of the kind that the argument has.
fn present<H: Clone>(
    handles: &HandleContainer<H>,
    argument: &'static str,
    tensor: &TensorIr,
    of_kind: bool,
) -> Result<(), Refused> {
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
    Ok(())
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
