//! Operators of this crate's own operator set, other than the region operators. They replace standard operators, loops
//! and branches that burn-onnx refuses.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::{ArgType, CodegenContext, CustomNode, CustomOp, OpsetRange, ProcessError};

use crate::batched_suppression::BatchedSuppression;
use crate::host::Host;
use crate::keypoints::Keypoints;
use crate::operators::{DOMAIN, NEWEST_VERSION};
use crate::shaping::Shaping;
use crate::suppression::Suppression;
use crate::top_k::TopK;

/// Such an operator.
pub(crate) trait OwnOperator: Sync {
    /// The operator's name.
    fn name(&self) -> &'static str;

    /// The types of a node's outputs.
    fn output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError>;

    /// The code that computes a node's outputs.
    fn code(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError>;
}

/// All of them.
pub(crate) const ALL: [&dyn OwnOperator; 8] = [
    &BatchedSuppression,
    &Host,
    &Keypoints,
    &Shaping::Expand,
    &Shaping::Flatten,
    &Shaping::Reshape,
    &Suppression,
    &TopK,
];

/// The operator of a name in a domain.
pub(crate) fn find(domain: &str, name: &str) -> Option<&'static dyn OwnOperator> {
    ALL.into_iter()
        .find(|operator| domain == DOMAIN && operator.name() == name)
}

/// An operator, as burn-onnx takes it.
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
