//! The value of an attribute.

use std::fmt;

use burn_onnx::ext::{AttrKind, CustomNode};
use onnx_ir::{AttributeProto, AttributeType};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Int(i64),
    Ints(Vec<i64>),
    Float(f32),
    Floats(Vec<f32>),
    Text(String),
    Other(String),
}

impl Value {
    /// Reads an attribute of a model.
    pub fn of(attribute: &AttributeProto) -> Self {
        match attribute.type_.enum_value() {
            Ok(AttributeType::INT) => Self::Int(attribute.i),
            Ok(AttributeType::INTS) => Self::Ints(attribute.ints.clone()),
            Ok(AttributeType::FLOAT) => Self::Float(attribute.f),
            Ok(AttributeType::FLOATS) => Self::Floats(attribute.floats.clone()),
            Ok(AttributeType::STRING) => Self::Text(String::from_utf8_lossy(&attribute.s).into_owned()),
            Ok(other) => Self::Other(format!("{other:?}")),
            Err(number) => Self::Other(number.to_string()),
        }
    }

    /// Reads an attribute of burn-onnx.
    pub fn of_custom(node: &CustomNode, name: &str) -> Self {
        let attributes = &node.attrs;
        let value = match attributes.kind(name) {
            Some(AttrKind::Int64) => attributes.get_i64(name).map(Self::Int),
            Some(AttrKind::Int64s) => attributes.get_i64s(name).map(|values| Self::Ints(values.to_vec())),
            Some(AttrKind::Float32) => attributes.get_f32(name).map(Self::Float),
            Some(AttrKind::Float32s) => attributes.get_f32s(name).map(|values| Self::Floats(values.to_vec())),
            Some(AttrKind::String) => attributes.get_string(name).map(|text| Self::Text(text.to_string())),
            _ => None,
        };
        value.unwrap_or_else(|| Self::Other(format!("{:?}", attributes.kind(name))))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            // A malformed model can have a list of any length.
            Self::Ints(values) if values.len() > 16 => write!(f, "a list of {} integers", values.len()),
            Self::Ints(values) => write!(f, "{values:?}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Floats(values) if values.len() > 16 => write!(f, "a list of {} floats", values.len()),
            Self::Floats(values) => write!(f, "{values:?}"),
            Self::Text(value) => write!(f, "{value:?}"),
            Self::Other(kind) => write!(f, "of the type {kind}"),
        }
    }
}
