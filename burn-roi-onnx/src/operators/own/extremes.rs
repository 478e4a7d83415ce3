//! ONNX `ReduceMax` and `ReduceMin`, also of no elements, which Burn's own functions refuse.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::{format_ident, quote};
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, DType, TensorType};

use super::operator::{OwnOperator, assign, axes, tensor_type};
use crate::error::Error;

pub(super) const OPERATORS: &[OwnOperator] = &[
    OwnOperator::new("ReduceMax", types, code),
    OwnOperator::new("ReduceMin", types, code),
];

fn types(node: &CustomNode) -> Result<Vec<ArgType>, Error> {
    let dtype = input(node)?.dtype;
    Ok(vec![match rank(node)? {
        0 => ArgType::ScalarTensor(dtype),
        rank => ArgType::Tensor(TensorType::new(dtype, rank, None)),
    }])
}

fn code(node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error> {
    let dtype = input(node)?.dtype;
    let largest = node.op_type == "ReduceMax";
    let (number, of_nothing) = match (dtype, largest) {
        (dtype, true) if dtype.is_float() => ("f32", "NEG_INFINITY"),
        (dtype, false) if dtype.is_float() => ("f32", "INFINITY"),
        (DType::I32, true) => ("i32", "MIN"),
        (DType::I32, false) => ("i32", "MAX"),
        (_, true) => ("i64", "MIN"),
        (_, false) => ("i64", "MAX"),
    };
    let (number, of_nothing) = (format_ident!("{number}"), format_ident!("{of_nothing}"));
    let (input, axes) = (context.arg(&node.inputs[0]), axes(node));
    let shaped = match rank(node)? {
        _ if keeps_axes(node) => quote!(),
        // A scalar is a tensor of one element.
        0 => quote!(.reshape([1])),
        rank => quote!(.squeeze_dims::<#rank>(&[#(#axes as isize),*])),
    };
    let value = quote!(burn_roi_detection::onnx::extreme(#input, &[#(#axes),*], #largest, #number::#of_nothing)#shaped);
    Ok(assign(node, value))
}

fn rank(node: &CustomNode) -> Result<usize, Error> {
    let removed = if keeps_axes(node) { 0 } else { axes(node).len() };
    Ok(input(node)?.rank.saturating_sub(removed))
}

/// Whether reduced axes are kept, whose size is 1 then.
fn keeps_axes(node: &CustomNode) -> bool {
    node.attrs.get_i64("keepdims").unwrap_or(1) != 0
}

fn input(node: &CustomNode) -> Result<&TensorType, Error> {
    tensor_type(node, "data", "a tensor of numbers", |tensor| !tensor.dtype.is_bool())
}
