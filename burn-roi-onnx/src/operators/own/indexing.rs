//! ONNX `GatherND` and `ScatterND`, also of no index tuples, which Burn's own functions refuse.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::{format_ident, quote};
use burn_onnx::ext::{ArgType, Argument, CodegenContext, CustomNode, TensorType};

use super::operator::{OwnOperator, assign, refusal};
use crate::error::Error;
use crate::operators::attributes::Attributes;
use crate::operators::inputs::{dtype_of, rank_of, tensor};

/// The attribute with the length of an index tuple.
pub(crate) const LENGTH: &str = "burn_roi_length";

pub(super) const OPERATORS: &[OwnOperator] = &[
    OwnOperator::new("GatherND", gather_types, gather_code),
    OwnOperator::new("ScatterND", scatter_types, scatter_code),
];

fn gather_types(node: &CustomNode) -> Result<Vec<ArgType>, Error> {
    let dtype = dtype_of(input(node, 0)?);
    Ok(vec![ArgType::Tensor(TensorType::new(
        dtype,
        gathered_rank(node)?,
        None,
    ))])
}

fn gather_code(node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error> {
    let (data, indices) = (numbers(node, 0, context)?, tensor(input(node, 1)?, context));
    let (of_data, of_indices) = (rank_of(input(node, 0)?), rank_of(input(node, 1)?));
    let (rank, batch_dims) = (gathered_rank(node)?, batch_dims(node)?);
    let gathered = quote! {
        burn_roi_detection::onnx::gather_nd::<#of_data, #of_indices, #rank, _>(#data, #indices, #batch_dims)
    };
    assign_numbers(node, gathered)
}

fn scatter_types(node: &CustomNode) -> Result<Vec<ArgType>, Error> {
    let data = input(node, 0)?;
    Ok(vec![match &data.ty {
        ArgType::Tensor(tensor) => ArgType::Tensor(tensor.clone()),
        _ => ArgType::Tensor(TensorType::new(dtype_of(data), 1, None)),
    }])
}

fn scatter_code(node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error> {
    let (data, indices) = (numbers(node, 0, context)?, tensor(input(node, 1)?, context));
    let updates = numbers(node, 2, context)?;
    let update = format_ident!("{}", update(node)?);
    let scattered = quote! {
        burn_roi_detection::onnx::scatter_nd(
            #data,
            #indices,
            #updates,
            burn::tensor::IndexingUpdateOp::#update,
        )
    };
    assign_numbers(node, scattered)
}

/// The code that reads data or updates. Booleans become integers, since Burn indexes numbers alone on some devices.
fn numbers(node: &CustomNode, at: usize, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error> {
    let value = tensor(input(node, at)?, context);
    Ok(if is_bool(node)? { quote!(#value.int()) } else { value })
}

/// Assigns numbers to the output, as booleans if the data are booleans.
fn assign_numbers(node: &CustomNode, value: TokenStream) -> Result<TokenStream, Error> {
    Ok(assign(node, if is_bool(node)? { quote!(#value.bool()) } else { value }))
}

fn is_bool(node: &CustomNode) -> Result<bool, Error> {
    Ok(dtype_of(input(node, 0)?).is_bool())
}

fn gathered_rank(node: &CustomNode) -> Result<usize, Error> {
    let length = node.attrs.get_i64(LENGTH);
    let length = length.and_then(|length| usize::try_from(length).ok());
    let rank = (rank_of(input(node, 0)?) + rank_of(input(node, 1)?)).checked_sub(1 + batch_dims(node)?);
    let rank = rank.zip(length).and_then(|(rank, length)| rank.checked_sub(length));
    rank.filter(|&rank| rank > 0)
        .ok_or_else(|| refusal(node, "the length of its index tuples does not fit its inputs"))
}

fn batch_dims(node: &CustomNode) -> Result<usize, Error> {
    let attributes = Attributes::of_custom(node);
    attributes.only(&["batch_dims", LENGTH])?;
    let lower_rank = node.inputs.iter().map(rank_of).min().unwrap_or_default();
    attributes.within(
        "batch_dims",
        attributes.int("batch_dims", Some(0))?,
        0..=lower_rank as i64,
    )
}

/// The name of a variant of `IndexingUpdateOp`.
fn update(node: &CustomNode) -> Result<&'static str, Error> {
    let attributes = Attributes::of_custom(node);
    let choices = [
        ("none", "Assign"),
        ("add", "Add"),
        ("mul", "Mul"),
        ("max", "Max"),
        ("min", "Min"),
    ];
    attributes.only(&["reduction"])?;
    attributes.choice("reduction", "Assign", &choices)
}

fn input(node: &CustomNode, at: usize) -> Result<&Argument, Error> {
    node.inputs.get(at).ok_or_else(|| refusal(node, "an input is missing"))
}
