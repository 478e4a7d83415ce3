//! The description of an operator of this crate's operator set, and how burn-onnx calls it.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{
    ArgType, Argument, CodegenContext, CustomNode, CustomOp, OpsetRange, ProcessError, TensorType, arg_to_ident,
};

use crate::error::Error;
use crate::operators::attributes::Attributes;
use crate::read::opset::{DOMAIN, NEWEST_VERSION};

/// The attribute with axes, counted from the first.
pub(crate) const AXES: &str = "axes";

/// Returns the types of a node's outputs.
type Types = fn(&CustomNode) -> Result<Vec<ArgType>, Error>;

/// Returns the statement that computes a node's outputs.
type Code = fn(&CustomNode, &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error>;

/// An operator of this crate's operator set.
pub(crate) struct OwnOperator {
    pub name: &'static str,
    pub types: Types,
    code: Code,
}

impl OwnOperator {
    pub const fn new(name: &'static str, types: Types, code: Code) -> Self {
        Self { name, types, code }
    }
}

impl CustomOp for &'static OwnOperator {
    fn op_type(&self) -> &str {
        self.name
    }

    fn domain(&self) -> &str {
        DOMAIN
    }

    fn opset_range(&self) -> OpsetRange {
        OpsetRange {
            min: 1,
            max: Some(NEWEST_VERSION),
        }
    }

    fn infer_output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        (self.types)(node).map_err(Error::into_process_error)
    }

    fn forward(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        (self.code)(node, context).map_err(Error::into_process_error)
    }
}

/// The statement that assigns a value to a node's first output.
pub(super) fn assign(node: &CustomNode, value: TokenStream) -> TokenStream {
    let output = arg_to_ident(&node.outputs[0]);
    quote!(let #output = #value;)
}

/// The type of the first input, if it is a tensor that `fits`.
pub(super) fn tensor_type<'a>(
    node: &'a CustomNode,
    name: &str,
    expected: &str,
    fits: fn(&TensorType) -> bool,
) -> Result<&'a TensorType, Error> {
    match node.inputs.first().map(|input| &input.ty) {
        Some(ArgType::Tensor(tensor)) if fits(tensor) => Ok(tensor),
        _ => {
            let found = node.inputs.first().map_or("missing".to_string(), Argument::to_string);
            Err(Attributes::of_custom(node).wrong_input(name, found, expected))
        }
    }
}

/// The attribute [`AXES`].
pub(super) fn axes(node: &CustomNode) -> Vec<usize> {
    let axes = node.attrs.get_i64s(AXES).unwrap_or_default();
    axes.iter().filter_map(|&axis| usize::try_from(axis).ok()).collect()
}

/// The error for a node that cannot be imported.
pub(super) fn refusal(node: &CustomNode, reason: impl Into<String>) -> Error {
    Attributes::of_custom(node).refuse(reason)
}
