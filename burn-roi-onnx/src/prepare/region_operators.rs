//! Moves `RoiAlign`, `MaxRoiPool` and `NonMaxSuppression` to this crate's operator set. Checks their nodes and those of
//! the other region operators.

use onnx_ir::{GraphProto, ModelProto, NodeProto};

use super::nodes::text;
use crate::error::{Error, NodeId};
use crate::operators::attributes::{Attributes, ORIGINAL_NAME};
use crate::operators::own::suppression;
use crate::operators::region::{self, Operator};
use crate::read::node::{graphs, is};
use crate::read::opset::{DOMAIN, is_default, version};

/// Moves and checks the nodes of a model, and imports the operator sets.
pub(super) fn prepare(model: &mut ModelProto) -> Result<(), Error> {
    let default = version(model, "").unwrap_or(0);
    model.opset_import.retain(|import| import.domain != DOMAIN);
    let mut imports = vec![(DOMAIN.to_string(), default)];
    let mut graph = model.graph.take().unwrap_or_default();
    for node in &mut graph.node {
        refuse_in_bodies(node)?;
        if suppression::is_suppression(node) {
            suppression::check(node, default as usize)?;
            move_to(node, DOMAIN);
            continue;
        }
        let Some(operator) = operator(node) else {
            continue;
        };
        let imported = match operator.domain {
            DOMAIN => default,
            domain => version(model, domain).unwrap_or(1),
        };
        check(node, operator, imported as usize)?;
        move_to(node, operator.domain);
        imports.push((operator.domain.to_string(), imported));
    }
    model.graph = Some(graph).into();
    for (domain, number) in imports {
        if version(model, &domain).is_none() {
            // The type of an import has no public name.
            model.opset_import.push(Default::default());
            if let Some(import) = model.opset_import.last_mut() {
                import.domain = domain;
                import.version = number;
            }
        }
    }
    Ok(())
}

/// Moves a node to an operator set.
pub(super) fn move_to(node: &mut NodeProto, domain: &str) {
    node.domain = domain.to_string();
    node.attribute.push(text(ORIGINAL_NAME, &original_name(node)));
}

/// The region operator of a node.
fn operator(node: &NodeProto) -> Option<&'static Operator> {
    let moves = is_default(&node.domain) && matches!(node.op_type.as_str(), "RoiAlign" | "MaxRoiPool");
    let domain = match node.domain.as_str() {
        _ if moves => DOMAIN,
        domain if is_default(domain) => "",
        domain => domain,
    };
    region::find(domain, &node.op_type)
}

/// The name of a node in errors.
fn original_name(node: &NodeProto) -> String {
    match (node.name.as_str(), node.output.first()) {
        ("", Some(output)) => format!("of the output {output}"),
        (name, _) => name.to_string(),
    }
}

/// Checks a node's version, its numbers of inputs and outputs, and its attributes.
fn check(node: &NodeProto, operator: &Operator, version: usize) -> Result<(), Error> {
    let attributes = Attributes::of(node, version);
    attributes.check_version(&operator.versions)?;
    let call = operator.call(&attributes, node.input.len(), node.output.len())?;
    let missing = node.input.iter().zip(&call.inputs).find(|(name, _)| name.is_empty());
    missing.map_or(Ok(()), |(_, input)| {
        Err(attributes.wrong_input(input.name, "missing", "there"))
    })
}

/// Whether this crate computes a node that resizes: burn-onnx's own operators ignore most of its attributes.
pub(super) fn is_resize(node: &NodeProto) -> bool {
    is(node, "Resize") || is(node, "Upsample")
}

/// An error if a body has a region operator or resizes: burn-onnx generates no code for custom operators in bodies.
fn refuse_in_bodies(node: &NodeProto) -> Result<(), Error> {
    fn refuse(graph: &GraphProto, around: &NodeId) -> Result<(), Error> {
        for node in &graph.node {
            if operator(node).is_some() || suppression::is_rotated(node) || is_resize(node) {
                return Err(Error::Node {
                    node: Box::new(NodeId::of(node)),
                    reason: format!("it is in the body of {around}, where burn-onnx takes no custom operator"),
                });
            }
            graphs(node).try_for_each(|body| refuse(body, around))?;
        }
        Ok(())
    }
    let id = NodeId::of(node);
    graphs(node).try_for_each(|body| refuse(body, &id))
}
