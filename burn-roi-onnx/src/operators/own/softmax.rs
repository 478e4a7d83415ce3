//! ONNX `Softmax` and `LogSoftmax` before opset 13, which take all axes from one on as one axis. burn-onnx takes that
//! axis alone.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, ProcessError, TensorType, arg_to_ident};

use super::operator::OwnOperator;
use crate::error::Error;
use crate::operators::attributes::Attributes;

/// The first version in which the operators are about one axis.
pub(crate) const OF_ONE_AXIS: usize = 13;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Softmax {
    Softmax,
    LogSoftmax,
}

impl OwnOperator for Softmax {
    fn name(&self) -> &'static str {
        match self {
            Self::Softmax => "Softmax",
            Self::LogSoftmax => "LogSoftmax",
        }
    }

    fn output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        let input = input(node).map_err(Error::into_process_error)?;
        Ok(vec![ArgType::Tensor(input.clone())])
    }

    fn code(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        let axis = axis(node).map_err(Error::into_process_error)?;
        let function = match self {
            Self::Softmax => quote!(softmax_of_all_from),
            Self::LogSoftmax => quote!(log_softmax_of_all_from),
        };
        let (input, output) = (context.arg(&node.inputs[0]), arg_to_ident(&node.outputs[0]));
        Ok(quote!(let #output = burn_roi_detection::onnx::#function(#input, #axis);))
    }
}

fn axis(node: &CustomNode) -> Result<usize, Error> {
    let attributes = Attributes::of_custom(node);
    attributes.only(&["axis"])?;
    let rank = input(node)?.rank as i64;
    let axis = attributes.int("axis", Some(1))?;
    attributes.within("axis", if axis < 0 { axis + rank } else { axis }, 0..=rank)
}

/// The type of the input.
fn input(node: &CustomNode) -> Result<&TensorType, Error> {
    match node.inputs.first().map(|input| (input, &input.ty)) {
        Some((_, ArgType::Tensor(tensor))) if tensor.dtype.is_float() => Ok(tensor),
        found => {
            let found = found.map_or_else(|| "missing".to_string(), |(input, _)| input.to_string());
            Err(Attributes::of_custom(node).wrong_input("input", found, "a tensor of floats"))
        }
    }
}
