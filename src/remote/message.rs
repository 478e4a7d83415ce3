//! A message of a client, checked: the tensors, which it may name wrongly or lie about, and the operator.

use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::{DType, Shape};
use burn_ir::{BackendIr, CustomOpIr, HandleContainer, TensorError, TensorIr, TensorStatus};
use thiserror::Error;

use super::options::{self, WrongOptions};
use super::run::Call;
use super::tensors;
use crate::backend::RoiBackend;
use crate::backend::remote::message::{Malformed, Operation, decode};
use crate::error::RoiError;

/// Why a message is refused.
#[derive(Debug, Error)]
pub enum Refused {
    /// Its scalars are no operator.
    #[error(transparent)]
    Scalars(#[from] Malformed),
    /// Its operator is none that the client's functions send.
    #[error(transparent)]
    Options(#[from] WrongOptions),
    /// A tensor is refused as the `try_` functions refuse it.
    #[error(transparent)]
    Tensors(#[from] RoiError),
    /// It names too many or too few tensors.
    #[error("the message names {inputs} input and {outputs} output tensors, but must name {expected} and 1")]
    Count {
        inputs: usize,
        outputs: usize,
        expected: usize,
    },
    /// It names a tensor that the session does not have.
    #[error("`{argument}` is tensor {id}, which this session does not have")]
    Missing { argument: &'static str, id: u64 },
    /// It describes floats as integers, or integers as floats.
    #[error(
        "`{argument}` is described as a tensor of {dtype:?}, but must be of integers if it is `batch_indices`, and \
        else of floats"
    )]
    Kind { argument: &'static str, dtype: DType },
    /// It describes a tensor as another than it is.
    #[error("`{argument}` is described as {described}, but is {found}")]
    Described {
        argument: &'static str,
        described: String,
        found: String,
    },
    /// It asks for a gradient that its operator does not have.
    #[error("`{operation}` takes an operator that {expected}, but the message has {operator}")]
    Gradient {
        operation: &'static str,
        expected: &'static str,
        operator: String,
    },
    /// There is nothing to compute, for which a client sends no message.
    #[error("the message has no region, no image or no channel")]
    Nothing,
    /// A tensor that it needs was itself never computed.
    #[error("`{argument}` was never computed: {error}")]
    Upstream { argument: &'static str, error: TensorError },
}

/// The call that a message asks for.
///
/// # Errors
///
/// [`Refused`].
pub fn read<B: RoiBackend + BackendIr>(
    operation: Operation,
    handles: &mut HandleContainer<B::Handle>,
    message: &CustomOpIr,
) -> Result<Call<B>, Refused> {
    let operator = decode(&message.scalars)?;
    options::check(&operator)?;
    let arguments = operation.arguments();
    let ([first, boxes, batch_indices, last @ ..], [output]) = (&message.inputs[..], &message.outputs[..]) else {
        return Err(count(operation, message));
    };
    if message.inputs.len() != arguments.len() {
        return Err(count(operation, message));
    }
    let call = Call::<B> {
        operation,
        operator,
        first: take::<B>(handles, arguments[0], first)?,
        boxes: take::<B>(handles, arguments[1], boxes)?,
        batch_indices: take_indices::<B>(handles, arguments[2], batch_indices)?,
        last: match last {
            [] => None,
            [last, ..] => Some(take::<B>(handles, arguments[3], last)?),
        },
        output: output.shape.clone(),
    };
    tensors::check(&call)?;
    let (shape, dtype) = tensors::output(&call);
    described("output", output, shape, dtype)?;
    Ok(call)
}

fn count(operation: Operation, message: &CustomOpIr) -> Refused {
    Refused::Count {
        inputs: message.inputs.len(),
        outputs: message.outputs.len(),
        expected: operation.arguments().len(),
    }
}

/// Takes a tensor out of the session, or shares it, as the message says.
fn take<B: RoiBackend + BackendIr>(
    handles: &mut HandleContainer<B::Handle>,
    argument: &'static str,
    tensor: &TensorIr,
) -> Result<FloatTensor<B>, Refused> {
    present(handles, argument, tensor, tensor.dtype.is_float())?;
    let found = handles.get_float_tensor::<B>(tensor);
    described(argument, tensor, found.shape(), found.dtype())?;
    Ok(found)
}

fn take_indices<B: RoiBackend + BackendIr>(
    handles: &mut HandleContainer<B::Handle>,
    argument: &'static str,
    tensor: &TensorIr,
) -> Result<IntTensor<B>, Refused> {
    present(
        handles,
        argument,
        tensor,
        tensor.dtype.is_int() || tensor.dtype.is_uint(),
    )?;
    let found = handles.get_int_tensor::<B>(tensor);
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
