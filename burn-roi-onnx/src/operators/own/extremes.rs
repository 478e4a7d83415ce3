//! ONNX `ReduceMax` and `ReduceMin`, also of no elements, which Burn's own functions refuse.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::{format_ident, quote};
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, ProcessError, TensorType, arg_to_ident};

use super::operator::{OwnOperator, refusal};

/// The attribute with the axes, counted from the first.
pub(crate) const AXES: &str = "axes";
/// The attribute that keeps reduced axes, whose size is 1 then.
pub(crate) const KEEPS: &str = "keepdims";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extremes {
    ReduceMax,
    ReduceMin,
}

impl OwnOperator for Extremes {
    fn name(&self) -> &'static str {
        match self {
            Self::ReduceMax => "ReduceMax",
            Self::ReduceMin => "ReduceMin",
        }
    }

    fn output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        let input = input(node)?;
        let kind = match rank(node, input) {
            0 => ArgType::ScalarTensor(input.dtype),
            rank => ArgType::Tensor(TensorType::new(input.dtype, rank, None)),
        };
        Ok(vec![kind])
    }

    fn code(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        let kind = input(node)?;
        let largest = *self == Self::ReduceMax;
        let nothing = match (kind.dtype.is_float(), largest) {
            (true, true) => quote!(f32::NEG_INFINITY),
            (true, false) => quote!(f32::INFINITY),
            (false, largest) => {
                let kind = format_ident!(
                    "{}",
                    if kind.dtype == burn_onnx::ext::DType::I32 {
                        "i32"
                    } else {
                        "i64"
                    }
                );
                if largest {
                    quote!(#kind::MIN)
                } else {
                    quote!(#kind::MAX)
                }
            }
        };
        let (input, axes, rank) = (context.arg(&node.inputs[0]), axes(node), rank(node, kind));
        let shaped = match rank {
            _ if keeps(node) => quote!(),
            // A scalar is a tensor of one element.
            0 => quote!(.reshape([1])),
            rank => quote!(.squeeze_dims::<#rank>(&[#(#axes as isize),*])),
        };
        let output = arg_to_ident(&node.outputs[0]);
        Ok(quote! {
            let #output = burn_roi_detection::onnx::extreme(#input, &[#(#axes),*], #largest, #nothing)#shaped;
        })
    }
}

fn rank(node: &CustomNode, input: &TensorType) -> usize {
    match keeps(node) {
        true => input.rank,
        false => input.rank.saturating_sub(axes(node).len()),
    }
}

fn keeps(node: &CustomNode) -> bool {
    node.attrs.get_i64(KEEPS).unwrap_or(1) != 0
}

fn axes(node: &CustomNode) -> Vec<usize> {
    let axes = node.attrs.get_i64s(AXES).unwrap_or_default();
    axes.iter().filter_map(|&axis| usize::try_from(axis).ok()).collect()
}

/// The type of the input.
fn input(node: &CustomNode) -> Result<&TensorType, ProcessError> {
    match node.inputs.first().map(|input| &input.ty) {
        Some(ArgType::Tensor(tensor)) if !tensor.dtype.is_bool() => Ok(tensor),
        _ => Err(refusal(&node.op_type, node, "its input is no tensor of numbers")),
    }
}
