//! Checks that burn-onnx takes a rewritten model.

use std::path::Path;
use std::sync::Arc;

use burn_onnx::ext::{ArgType, CustomNode, CustomOp, Node, ProcessError};
use onnx_ir::{CustomOpInference, HookCoverage, MissingReason, ModelProto, OnnxGraphBuilder};

use super::panic::catch;
use crate::error::Error;
use crate::operators::own::{self, suppression};
use crate::operators::region::{self, check_inputs};
use crate::read::opset::{DOMAIN, is_default};

/// Reads the rewritten model as burn-onnx does, so that a refused model is an error and not a panic. Skipped if the
/// model has foreign operators, whose hooks are not known here.
pub(super) fn try_import(model: &ModelProto, path: &Path) -> Result<(), Error> {
    let mut nodes = model.graph.iter().flat_map(|graph| &graph.node);
    let foreign = |domain: &str| !is_default(domain) && !region::all().any(|known| known.domain == domain);
    if nodes.any(|node| foreign(&node.domain)) {
        return Ok(());
    }
    let read = || {
        OnnxGraphBuilder::new()
            .with_custom_op_inference(Arc::new(Inference))
            .parse_file(path)
    };
    let graph = catch(read)
        .map_err(Error::Import)?
        .map_err(|error| Error::Import(error.to_string()))?;
    for node in &graph.nodes {
        let Node::Custom(node) = node else {
            continue;
        };
        if let Some(operator) = region::find(&node.domain, &node.op_type) {
            check_inputs(operator, node)?;
        } else if node.domain == DOMAIN && node.op_type == suppression::NAME {
            suppression::check_inputs(node)?;
        }
    }
    Ok(())
}

/// The types of the outputs of this crate's operators, for onnx-ir.
struct Inference;

impl CustomOpInference for Inference {
    fn coverage(&self, name: &str, domain: &str, version: usize) -> HookCoverage {
        match region::find(domain, name) {
            None if own::find(domain, name).is_some() => HookCoverage::Covered,
            None => HookCoverage::Missing(MissingReason::NoHook),
            Some(operator) if operator.versions.contains(&version) => HookCoverage::Covered,
            Some(operator) => HookCoverage::Missing(MissingReason::OpsetMismatch {
                supported: operator.opset_range(),
            }),
        }
    }

    fn infer(&self, node: &CustomNode) -> Result<Option<Vec<ArgType>>, ProcessError> {
        if let Some(operator) = own::find(&node.domain, &node.op_type) {
            return operator.infer_output_types(node).map(Some);
        }
        let operator = region::find(&node.domain, &node.op_type);
        operator.map(|operator| operator.infer_output_types(node)).transpose()
    }
}
