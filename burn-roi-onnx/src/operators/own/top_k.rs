//! ONNX `TopK`. burn-onnx's code for it calls `topk_with_indices`. With Burn 0.22.1 on Mesa's software driver, for 6720
//! elements and k = 100 that kernel found 1 of the 100 largest, and for k = 1000 it took minutes to compile.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{ArgType, Argument, CodegenContext, CustomNode, DType, ProcessError, TensorType, arg_to_ident};

use super::operator::{OwnOperator, refusal};
use crate::error::Error;
use crate::operators::attributes::Attributes;
use crate::operators::inputs::{is_number, number};

/// The operator's name.
pub(crate) const NAME: &str = "TopK";

pub(crate) struct TopK;

impl OwnOperator for TopK {
    fn name(&self) -> &'static str {
        NAME
    }

    fn output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        let input = input(node)?;
        let of = |dtype| ArgType::Tensor(TensorType::new(dtype, input.rank, None));
        let types = [of(input.dtype), of(DType::I64)];
        Ok(types.into_iter().take(node.outputs.len()).collect())
    }

    fn code(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        let attributes = Attributes::of_custom(node);
        let wrong = Error::into_process_error;
        attributes.only(&["axis", "k", "largest", "sorted"]).map_err(wrong)?;
        let largest = attributes.flag("largest", true).map_err(wrong)?;
        let rank = input(node)?.rank as i64;
        let axis = attributes.int("axis", Some(-1)).map_err(wrong)?;
        let axis = if axis < 0 { axis + rank } else { axis };
        let fits = usize::try_from(axis).ok().filter(|_| axis < rank);
        let axis = fits.ok_or_else(|| refusal(NAME, node, "its axis is beyond the rank of its input"))?;
        let input = context.arg(&node.inputs[0]);
        let k = match node.inputs.get(1) {
            Some(k) if is_number(k, true) => number(k, &quote!(i64), context),
            Some(k) => return Err(refusal(NAME, node, &format!("its input K is {k}, and no integer"))),
            // Before opset 10, K was an attribute.
            None => {
                let k = attributes.int("k", None).map_err(wrong)?;
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
}

/// The type of the first input.
fn input(node: &CustomNode) -> Result<&TensorType, ProcessError> {
    match node.inputs.first() {
        Some(Argument {
            ty: ArgType::Tensor(tensor),
            ..
        }) if tensor.rank > 0 => Ok(tensor),
        _ => Err(refusal(NAME, node, "its input is no tensor")),
    }
}
