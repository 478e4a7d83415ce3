//! ONNX `Expand`, `Reshape`, `Flatten`, `Unsqueeze` and `Squeeze`, also of tensors without elements, which Burn's own
//! functions refuse.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::{format_ident, quote};
use burn_onnx::ext::{ArgType, Argument, CodegenContext, CustomNode, ProcessError, TensorType, arg_to_ident};

use super::operator::{OwnOperator, refusal};
use crate::operators::inputs::{dtype_of, rank_of, sizes, tensor};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shaping {
    Expand,
    Reshape,
    Flatten,
    Unsqueeze,
    Squeeze,
}

/// The attribute with the axes of `Unsqueeze` and `Squeeze`, counted from the first.
pub(crate) const AXES: &str = "axes";

impl Shaping {
    fn rank(self, node: &CustomNode) -> Result<usize, ProcessError> {
        let asked = || match node.inputs.get(1).and_then(|sizes| sizes.ty.first_dim_static_len()) {
            Some(asked) => Ok(asked),
            None => Err(refusal(
                &node.op_type,
                node,
                "how many sizes it is asked for is not known",
            )),
        };
        match self {
            Self::Expand => Ok(asked()?.max(rank_of(input(node)?)).max(1)),
            Self::Reshape => asked(),
            Self::Flatten => Ok(2),
            Self::Unsqueeze => Ok(rank_of(input(node)?) + axes(node).len()),
            Self::Squeeze => Ok(rank_of(input(node)?).saturating_sub(axes(node).len())),
        }
    }

    /// The sizes of the output, if they are known.
    fn sizes(self, node: &CustomNode) -> Option<Vec<Option<usize>>> {
        let mut sizes = node.inputs.first()?.ty.static_shape()?.to_vec();
        let axes = axes(node);
        match self {
            Self::Unsqueeze => (0..sizes.len() + axes.len())
                .filter(|axis| axes.contains(axis))
                .try_for_each(|axis| (axis <= sizes.len()).then(|| sizes.insert(axis, Some(1))))?,
            Self::Squeeze => {
                sizes = (0..sizes.len())
                    .filter(|axis| !axes.contains(axis))
                    .map(|at| sizes[at])
                    .collect()
            }
            _ => return None,
        }
        Some(sizes)
    }
}

impl OwnOperator for Shaping {
    fn name(&self) -> &'static str {
        match self {
            Self::Expand => "Expand",
            Self::Reshape => "Reshape",
            Self::Flatten => "Flatten",
            Self::Unsqueeze => "Unsqueeze",
            Self::Squeeze => "Squeeze",
        }
    }

    fn output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        let dtype = dtype_of(input(node)?);
        Ok(vec![ArgType::Tensor(TensorType::new(
            dtype,
            self.rank(node)?,
            self.sizes(node),
        ))])
    }

    fn code(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        let input = input(node)?;
        let given = rank_of(input).max(1);
        let rank = self.rank(node)?;
        let tensor = tensor(input, context);
        let output = match &node.outputs[..] {
            [output] => arg_to_ident(output),
            _ => return Err(refusal(&node.op_type, node, "it must have one output")),
        };
        let value = match self {
            Self::Flatten => {
                let axis = node.attrs.get_i64("axis").unwrap_or(1);
                let axis = if axis < 0 { axis + given as i64 } else { axis };
                let fits = usize::try_from(axis).ok().filter(|&axis| axis <= given);
                let axis = fits.ok_or_else(|| refusal(&node.op_type, node, "its axis is beyond the rank"))?;
                quote!(burn_roi_detection::onnx::flatten(#tensor, #axis))
            }
            Self::Unsqueeze | Self::Squeeze => {
                let axes = axes(node);
                let function = format_ident!("{}", self.name().to_lowercase());
                quote!(burn_roi_detection::onnx::#function::<#given, #rank, _>(#tensor, &[#(#axes),*]))
            }
            Self::Expand => {
                let sizes = sizes(&node.inputs[1], context);
                quote!(burn_roi_detection::onnx::expand::<#given, #rank, _>(#tensor, &#sizes))
            }
            Self::Reshape => {
                let sizes = sizes(&node.inputs[1], context);
                let allow_zero = node.attrs.get_i64("allowzero").unwrap_or(0) != 0;
                quote!(burn_roi_detection::onnx::reshape::<#given, #rank, _>(#tensor, &#sizes, #allow_zero))
            }
        };
        Ok(quote!(let #output = #value;))
    }
}

fn input(node: &CustomNode) -> Result<&Argument, ProcessError> {
    node.inputs
        .first()
        .ok_or_else(|| refusal(&node.op_type, node, "it must have an input"))
}

fn axes(node: &CustomNode) -> Vec<usize> {
    let axes = node.attrs.get_i64s(AXES).unwrap_or_default();
    axes.iter().filter_map(|&axis| usize::try_from(axis).ok()).collect()
}
