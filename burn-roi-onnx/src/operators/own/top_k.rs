//! ONNX `TopK`. burn-onnx's code for it calls `topk_with_indices`. With Burn 0.22.1 on Mesa's software driver, for 6720
//! elements and k = 100 that kernel found 1 of the 100 largest, and for k = 1000 it took minutes to compile.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, DType, TensorType, arg_to_ident};

use super::operator::{OwnOperator, refusal, tensor_type};
use crate::error::Error;
use crate::operators::attributes::{Attributes, from_first};
use crate::operators::inputs::{is_number, number};

/// The operator's name.
pub(crate) const NAME: &str = "TopK";

pub(super) const OPERATORS: &[OwnOperator] = &[OwnOperator::new(NAME, types, code)];

fn types(node: &CustomNode) -> Result<Vec<ArgType>, Error> {
    let input = input(node)?;
    let of = |dtype| ArgType::Tensor(TensorType::new(dtype, input.rank, None));
    let types = [of(input.dtype), of(DType::I64)];
    Ok(types.into_iter().take(node.outputs.len()).collect())
}

fn code(node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error> {
    let attributes = Attributes::of_custom(node);
    attributes.only(&["axis", "k", "largest", "sorted"])?;
    let largest = attributes.flag("largest", true)?;
    let rank = input(node)?.rank;
    let axis = from_first(attributes.int("axis", Some(-1))?, rank);
    let axis = attributes.within("axis", axis, 0..=rank as i64 - 1)?;
    let input = context.arg(&node.inputs[0]);
    let k = match node.inputs.get(1) {
        Some(k) if is_number(k, true) => number(k, &quote!(i64), context),
        Some(k) => return Err(refusal(node, format!("its input K is {k}, and no integer"))),
        // Before opset 10, K was an attribute.
        None => {
            let k = attributes.int("k", None)?;
            quote!(#k)
        }
    };
    let name = |at: usize| match node.outputs.get(at).filter(|output| !output.name.is_empty()) {
        Some(output) => {
            let output = arg_to_ident(output);
            quote!(#output)
        }
        None => quote!(_),
    };
    let (values, indices) = (name(0), name(1));
    Ok(quote! {
        let (#values, #indices) = {
            let (values, indices) = burn_roi_detection::onnx::top_k(#input, #k, #axis, #largest);
            (values, indices.cast(burn::tensor::DType::I64))
        };
    })
}

fn input(node: &CustomNode) -> Result<&TensorType, Error> {
    tensor_type(node, "X", "a tensor", |tensor| tensor.rank > 0)
}
