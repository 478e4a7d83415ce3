//! Nodes that give what was computed.

use onnx_ir::{AttributeProto, AttributeType, NodeProto};

use super::expression::Inputs;
use super::symbols::Symbols;
use super::tensor::Tensor;
use crate::host;
use crate::operators::DOMAIN;

/// A node that gives numbers that are computed from sizes.
pub(super) fn size_node(name: &str, symbols: &Symbols) -> NodeProto {
    let mut inputs = Inputs::default();
    let code = symbols
        .elements
        .iter()
        .map(|element| element.code(&mut inputs).into_bytes().into());
    let code = AttributeProto {
        name: host::CODE.to_string(),
        type_: AttributeType::STRINGS.into(),
        strings: code.collect(),
        ..AttributeProto::default()
    };
    let sizes = AttributeProto {
        name: host::SIZES.to_string(),
        type_: AttributeType::INTS.into(),
        ints: symbols.dims.iter().map(|&size| size as i64).collect(),
        ..AttributeProto::default()
    };
    let element = AttributeProto {
        name: host::ELEMENT.to_string(),
        type_: AttributeType::INT.into(),
        i: symbols.element.into(),
        ..AttributeProto::default()
    };
    NodeProto {
        domain: DOMAIN.to_string(),
        op_type: host::NAME.to_string(),
        input: inputs.names,
        output: vec![name.to_string()],
        attribute: vec![code, sizes, element],
        ..NodeProto::default()
    }
}

/// A node that gives a constant.
pub(super) fn constant_node(name: &str, value: &Tensor) -> NodeProto {
    let attribute = AttributeProto {
        name: "value".to_string(),
        type_: AttributeType::TENSOR.into(),
        t: Some(value.to_proto("")).into(),
        ..AttributeProto::default()
    };
    NodeProto {
        op_type: "Constant".to_string(),
        output: vec![name.to_string()],
        attribute: vec![attribute],
        ..NodeProto::default()
    }
}
