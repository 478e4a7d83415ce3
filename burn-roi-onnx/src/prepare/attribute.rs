//! The attributes of any node, as the rewriting reads them. A missing one has its default.

use onnx_ir::{AttributeProto, AttributeType, GraphProto, NodeProto, TensorProto};

pub(super) trait Of {
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

impl Of for NodeProto {
    fn attribute(&self, name: &str) -> Option<&AttributeProto> {
        self.attribute.iter().find(|attribute| attribute.name == name)
    }
}

/// An attribute that is a string.
pub(super) fn text(name: &str, value: &str) -> AttributeProto {
    AttributeProto {
        name: name.to_string(),
        type_: AttributeType::STRING.into(),
        s: value.as_bytes().to_vec().into(),
        ..AttributeProto::default()
    }
}

/// The graphs of a node's attributes: the branches of an `If`, the body of a `Loop`.
pub(super) fn graphs(node: &NodeProto) -> impl Iterator<Item = &GraphProto> {
    node.attribute
        .iter()
        .flat_map(|attribute| attribute.g.as_ref().into_iter().chain(&attribute.graphs))
}

/// The graphs of a node's attributes, to be changed.
pub(super) fn graphs_mut(node: &mut NodeProto) -> impl Iterator<Item = &mut GraphProto> {
    node.attribute
        .iter_mut()
        .flat_map(|attribute| attribute.g.as_mut().into_iter().chain(&mut attribute.graphs))
}
