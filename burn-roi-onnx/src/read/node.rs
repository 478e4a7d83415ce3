//! A node of a model: its operator, its attributes, and the graphs in them.

use onnx_ir::{AttributeProto, GraphProto, NodeProto, TensorProto};

use super::opset::is_default;

/// Reads attributes without a check of their types.
pub(crate) trait NodeAttributes {
    fn attribute(&self, name: &str) -> Option<&AttributeProto>;

    fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).map_or(default, |attribute| attribute.i)
    }

    fn ints(&self, name: &str) -> Option<&[i64]> {
        Some(&self.attribute(name)?.ints)
    }

    fn text(&self, name: &str) -> Option<&[u8]> {
        Some(&self.attribute(name)?.s)
    }

    fn tensor(&self, name: &str) -> Option<&TensorProto> {
        self.attribute(name)?.t.as_ref()
    }

    fn graph(&self, name: &str) -> Option<&GraphProto> {
        self.attribute(name)?.g.as_ref()
    }
}

impl NodeAttributes for NodeProto {
    fn attribute(&self, name: &str) -> Option<&AttributeProto> {
        self.attribute.iter().find(|attribute| attribute.name == name)
    }
}

/// Whether a node is a standard operator of this name.
pub(crate) fn is(node: &NodeProto, name: &str) -> bool {
    node.op_type == name && is_default(&node.domain)
}

/// The graphs of a node's attributes: the branches of an `If`, the body of a `Loop`.
pub(crate) fn graphs(node: &NodeProto) -> impl Iterator<Item = &GraphProto> {
    node.attribute
        .iter()
        .flat_map(|attribute| attribute.g.as_ref().into_iter().chain(&attribute.graphs))
}

/// The same graphs, mutable.
pub(crate) fn graphs_mut(node: &mut NodeProto) -> impl Iterator<Item = &mut GraphProto> {
    node.attribute
        .iter_mut()
        .flat_map(|attribute| attribute.g.as_mut().into_iter().chain(&mut attribute.graphs))
}

/// The names of the values that a graph's nodes, their bodies and its outputs use.
pub(crate) fn used(graph: &GraphProto) -> Vec<String> {
    let mut names: Vec<_> = graph.output.iter().map(|output| output.name.clone()).collect();
    for node in &graph.node {
        names.extend(node.input.iter().filter(|name| !name.is_empty()).cloned());
        names.extend(graphs(node).flat_map(used));
    }
    names
}
