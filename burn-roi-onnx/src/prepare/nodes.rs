//! Builds the nodes that the rewriting adds, and their attributes.

use onnx_ir::{AttributeProto, AttributeType, NodeProto};

use crate::read::opset::DOMAIN;
use crate::read::tensor::Tensor;

/// A node of this crate's operator set.
pub(super) fn own(
    operator: &str,
    input: Vec<String>,
    output: Vec<String>,
    attribute: Vec<AttributeProto>,
) -> NodeProto {
    NodeProto {
        domain: DOMAIN.to_string(),
        op_type: operator.to_string(),
        input,
        output,
        attribute,
        ..NodeProto::default()
    }
}

/// A node of this crate's operator set with the name and the outputs of the node that it replaces.
pub(super) fn in_place_of(
    node: &NodeProto,
    operator: &str,
    input: Vec<String>,
    attribute: Vec<AttributeProto>,
) -> NodeProto {
    NodeProto {
        name: node.name.clone(),
        ..own(operator, input, node.output.clone(), attribute)
    }
}

/// A `Constant`.
pub(super) fn constant(name: &str, value: &Tensor) -> NodeProto {
    let value = AttributeProto {
        t: Some(value.to_proto("")).into(),
        ..attribute("value", AttributeType::TENSOR)
    };
    NodeProto {
        op_type: "Constant".to_string(),
        output: vec![name.to_string()],
        attribute: vec![value],
        ..NodeProto::default()
    }
}

fn attribute(name: &str, kind: AttributeType) -> AttributeProto {
    AttributeProto {
        name: name.to_string(),
        type_: kind.into(),
        ..AttributeProto::default()
    }
}

pub(super) fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        i: value,
        ..attribute(name, AttributeType::INT)
    }
}

pub(super) fn ints(name: &str, values: Vec<i64>) -> AttributeProto {
    AttributeProto {
        ints: values,
        ..attribute(name, AttributeType::INTS)
    }
}

pub(super) fn float(name: &str, value: f32) -> AttributeProto {
    AttributeProto {
        f: value,
        ..attribute(name, AttributeType::FLOAT)
    }
}

pub(super) fn floats(name: &str, values: Vec<f32>) -> AttributeProto {
    AttributeProto {
        floats: values,
        ..attribute(name, AttributeType::FLOATS)
    }
}

pub(super) fn text(name: &str, value: &str) -> AttributeProto {
    AttributeProto {
        s: value.as_bytes().to_vec().into(),
        ..attribute(name, AttributeType::STRING)
    }
}

pub(super) fn texts(name: &str, values: Vec<String>) -> AttributeProto {
    AttributeProto {
        strings: values.into_iter().map(|value| value.into_bytes().into()).collect(),
        ..attribute(name, AttributeType::STRINGS)
    }
}
