//! ONNX `Softmax` and `LogSoftmax` before opset 13, which take all axes from one on as one axis. burn-onnx takes that
//! axis alone.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::{format_ident, quote};
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, TensorType};

use super::operator::{OwnOperator, assign, tensor_type};
use crate::error::Error;
use crate::operators::attributes::{Attributes, from_first};

/// The first version in which the operators are about one axis.
pub(crate) const OF_ONE_AXIS: usize = 13;

pub(super) const OPERATORS: &[OwnOperator] = &[
    OwnOperator::new("Softmax", types, code),
    OwnOperator::new("LogSoftmax", types, code),
];

fn types(node: &CustomNode) -> Result<Vec<ArgType>, Error> {
    Ok(vec![ArgType::Tensor(input(node)?.clone())])
}

fn code(node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error> {
    let attributes = Attributes::of_custom(node);
    attributes.only(&["axis"])?;
    let rank = input(node)?.rank;
    let axis = from_first(attributes.int("axis", Some(1))?, rank);
    let axis = attributes.within("axis", axis, 0..=rank as i64)?;
    let prefix = if node.op_type == "LogSoftmax" { "log_" } else { "" };
    let function = format_ident!("{prefix}softmax_of_all_from");
    let input = context.arg(&node.inputs[0]);
    Ok(assign(node, quote!(burn_roi_detection::onnx::#function(#input, #axis))))
}

fn input(node: &CustomNode) -> Result<&TensorType, Error> {
    tensor_type(node, "input", "a tensor of floats", |tensor| tensor.dtype.is_float())
}
