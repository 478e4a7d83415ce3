//! ONNX `GatherND` and `ScatterND`, also of no index tuples, which Burn's own functions refuse.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::{format_ident, quote};
use burn_onnx::ext::{ArgType, Argument, CodegenContext, CustomNode, ProcessError, TensorType, arg_to_ident};

use super::operator::{OwnOperator, refusal};
use crate::error::Error;
use crate::operators::attributes::Attributes;
use crate::operators::inputs::{dtype_of, rank_of, tensor};

/// The attribute with the length of an index tuple.
pub(crate) const LENGTH: &str = "burn_roi_length";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indexing {
    GatherNd,
    ScatterNd,
}

impl OwnOperator for Indexing {
    fn name(&self) -> &'static str {
        match self {
            Self::GatherNd => "GatherND",
            Self::ScatterNd => "ScatterND",
        }
    }

    fn output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        let data = input(node, 0)?;
        let kind = match self {
            Self::ScatterNd => match &data.ty {
                ArgType::Tensor(tensor) => tensor.clone(),
                _ => TensorType::new(dtype_of(data), 1, None),
            },
            Self::GatherNd => TensorType::new(dtype_of(data), gathered_rank(node)?, None),
        };
        Ok(vec![ArgType::Tensor(kind)])
    }

    fn code(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        let is_bool = dtype_of(input(node, 0)?).is_bool();
        let mut read = |at: usize| -> Result<TokenStream, ProcessError> {
            let value = tensor(input(node, at)?, context);
            // Burn indexes numbers alone on some devices.
            Ok(if is_bool && at != 1 {
                quote!(#value.int())
            } else {
                value
            })
        };
        let (data, indices) = (read(0)?, read(1)?);
        let value = match self {
            Self::GatherNd => {
                let (of_data, of_indices) = (rank_of(input(node, 0)?), rank_of(input(node, 1)?));
                let (rank, batch_dims) = (gathered_rank(node)?, batch_dims(node)?);
                quote! {
                    burn_roi_detection::onnx::gather_nd::<#of_data, #of_indices, #rank, _>(#data, #indices, #batch_dims)
                }
            }
            Self::ScatterNd => {
                let (updates, update) = (read(2)?, update(node)?);
                let update = format_ident!("{update}");
                quote! {
                    burn_roi_detection::onnx::scatter_nd(
                        #data,
                        #indices,
                        #updates,
                        burn::tensor::IndexingUpdateOp::#update,
                    )
                }
            }
        };
        let output = arg_to_ident(&node.outputs[0]);
        let value = if is_bool { quote!(#value.bool()) } else { value };
        Ok(quote!(let #output = #value;))
    }
}

fn gathered_rank(node: &CustomNode) -> Result<usize, ProcessError> {
    let length = node
        .attrs
        .get_i64(LENGTH)
        .and_then(|length| usize::try_from(length).ok());
    let rank = (rank_of(input(node, 0)?) + rank_of(input(node, 1)?)).checked_sub(1 + batch_dims(node)?);
    let rank = rank.zip(length).and_then(|(rank, length)| rank.checked_sub(length));
    rank.filter(|&rank| rank > 0).ok_or_else(|| {
        refusal(
            &node.op_type,
            node,
            "the length of its index tuples does not fit its inputs",
        )
    })
}

fn batch_dims(node: &CustomNode) -> Result<usize, ProcessError> {
    let attributes = Attributes::of_custom(node);
    let dims = attributes.only(&["batch_dims", LENGTH]).and_then(|()| {
        let dims = attributes.int("batch_dims", Some(0))?;
        attributes.within("batch_dims", dims, 0..=rank_of_either(node) as i64)
    });
    dims.map_err(Error::into_process_error)
}

/// The lower one of the ranks of both inputs.
fn rank_of_either(node: &CustomNode) -> usize {
    node.inputs.iter().map(rank_of).min().unwrap_or_default()
}

fn update(node: &CustomNode) -> Result<&'static str, ProcessError> {
    let attributes = Attributes::of_custom(node);
    let choices = [
        ("none", "Assign"),
        ("add", "Add"),
        ("mul", "Mul"),
        ("max", "Max"),
        ("min", "Min"),
    ];
    let update = attributes
        .only(&["reduction"])
        .and_then(|()| attributes.choice("reduction", "Assign", &choices));
    update.map_err(Error::into_process_error)
}

fn input(node: &CustomNode, at: usize) -> Result<&Argument, ProcessError> {
    node.inputs
        .get(at)
        .ok_or_else(|| refusal(&node.op_type, node, "an input is missing"))
}
