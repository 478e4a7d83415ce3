//! Why a message is refused.

use burn::tensor::DType;
use burn_ir::TensorError;
use thiserror::Error;

use super::options::WrongOptions;
use crate::backend::remote::message::Malformed;
use crate::error::RoiError;

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
