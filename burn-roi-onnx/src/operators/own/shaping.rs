//! ONNX `Expand`, `Reshape`, `Flatten`, `Unsqueeze` and `Squeeze`, also of tensors without elements, which Burn's own
//! functions refuse.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::{format_ident, quote};
use burn_onnx::ext::{ArgType, Argument, CodegenContext, CustomNode, TensorType};

use super::operator::{OwnOperator, assign, axes, refusal};
use crate::error::Error;
use crate::operators::attributes::from_first;
use crate::operators::inputs::{dtype_of, rank_of, sizes, tensor};

/// The operator's name.
pub(crate) const EXPAND: &str = "Expand";

pub(super) const OPERATORS: &[OwnOperator] = &[
    OwnOperator::new(EXPAND, types, code),
    OwnOperator::new("Reshape", types, code),
    OwnOperator::new("Flatten", types, code),
    OwnOperator::new("Unsqueeze", types, code),
    OwnOperator::new("Squeeze", types, code),
];

fn types(node: &CustomNode) -> Result<Vec<ArgType>, Error> {
    let dtype = dtype_of(input(node)?);
    Ok(vec![ArgType::Tensor(TensorType::new(
        dtype,
        rank(node)?,
        known_sizes(node),
    ))])
}

fn rank(node: &CustomNode) -> Result<usize, Error> {
    let requested = || {
        let count = node.inputs.get(1).and_then(|sizes| sizes.ty.first_dim_static_len());
        count.ok_or_else(|| refusal(node, "how many sizes it is asked for is not known"))
    };
    let given = rank_of(input(node)?);
    match node.op_type.as_str() {
        EXPAND => Ok(requested()?.max(given).max(1)),
        "Reshape" => requested(),
        "Flatten" => Ok(2),
        "Unsqueeze" => Ok(given + axes(node).len()),
        _ => Ok(given.saturating_sub(axes(node).len())),
    }
}

/// The sizes of the output of `Unsqueeze` or `Squeeze`, if they are known.
fn known_sizes(node: &CustomNode) -> Option<Vec<Option<usize>>> {
    let mut sizes = node.inputs.first()?.ty.static_shape()?.to_vec();
    let axes = axes(node);
    match node.op_type.as_str() {
        "Unsqueeze" => (0..sizes.len() + axes.len())
            .filter(|axis| axes.contains(axis))
            .try_for_each(|axis| (axis <= sizes.len()).then(|| sizes.insert(axis, Some(1))))?,
        "Squeeze" => {
            let mut axis = 0..;
            sizes.retain(|_| axis.next().is_some_and(|axis| !axes.contains(&axis)));
        }
        _ => return None,
    }
    Some(sizes)
}

fn code(node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error> {
    let input = input(node)?;
    let given = rank_of(input).max(1);
    let rank = rank(node)?;
    let tensor = tensor(input, context);
    if node.outputs.len() != 1 {
        return Err(refusal(node, "it must have one output"));
    }
    let value = match node.op_type.as_str() {
        EXPAND => {
            let sizes = sizes(&node.inputs[1], context);
            quote!(burn_roi_detection::onnx::expand::<#given, #rank, _>(#tensor, &#sizes))
        }
        "Reshape" => {
            let sizes = sizes(&node.inputs[1], context);
            let allow_zero = node.attrs.get_i64("allowzero").unwrap_or(0) != 0;
            quote!(burn_roi_detection::onnx::reshape::<#given, #rank, _>(#tensor, &#sizes, #allow_zero))
        }
        "Flatten" => {
            let axis = from_first(node.attrs.get_i64("axis").unwrap_or(1), given);
            let fits = usize::try_from(axis).ok().filter(|&axis| axis <= given);
            let axis = fits.ok_or_else(|| refusal(node, "its axis is beyond the rank"))?;
            quote!(burn_roi_detection::onnx::flatten(#tensor, #axis))
        }
        operator => {
            let axes = axes(node);
            let function = format_ident!("{}", operator.to_lowercase());
            quote!(burn_roi_detection::onnx::#function::<#given, #rank, _>(#tensor, &[#(#axes),*]))
        }
    };
    Ok(assign(node, value))
}

fn input(node: &CustomNode) -> Result<&Argument, Error> {
    node.inputs
        .first()
        .ok_or_else(|| refusal(node, "it must have an input"))
}
