//! The interface of an operator of this crate's operator set, and how burn-onnx calls it.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, CustomOp, OpsetRange, ProcessError};

use crate::read::opset::{DOMAIN, NEWEST_VERSION};

/// An operator of this crate's operator set.
pub(crate) trait OwnOperator: Sync {
    /// The operator's name.
    fn name(&self) -> &'static str;

    /// The types of a node's outputs.
    fn output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError>;

    /// The code that computes a node's outputs.
    fn code(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError>;
}

/// Passes burn-onnx's calls to an operator.
pub(crate) struct OwnHook(pub &'static dyn OwnOperator);

impl CustomOp for OwnHook {
    fn op_type(&self) -> &str {
        self.0.name()
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
        self.0.output_types(node)
    }

    fn forward(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        self.0.code(node, context)
    }
}

/// The error for a node that cannot be imported. `what` describes the node.
pub(super) fn refusal(what: &str, node: &CustomNode, reason: &str) -> ProcessError {
    let output = node.outputs.first().map(|output| output.name.as_str());
    ProcessError::Custom(format!("{what} with the output {output:?}: {reason}"))
}
