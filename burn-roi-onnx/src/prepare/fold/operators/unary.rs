//! Operators on the elements of one tensor.

use crate::prepare::fold::expression::{Expression, Form};
use crate::prepare::fold::inputs::Inputs;
use crate::prepare::fold::symbols::Symbols;
use crate::read::tensor::{Data, Tensor, element};

/// Only what every machine rounds alike.
pub(super) fn constant(inputs: &Inputs) -> Option<Tensor> {
    let (operator, tensor) = (inputs.node.op_type.as_str(), inputs.value(0)?);
    macro_rules! floats {
        ($values:expr) => {
            match operator {
                "Floor" => $values.iter().map(|value| value.floor()).collect(),
                "Ceil" => $values.iter().map(|value| value.ceil()).collect(),
                "Round" => $values.iter().map(|value| value.round_ties_even()).collect(),
                "Sqrt" => $values.iter().map(|value| value.sqrt()).collect(),
                "Reciprocal" => $values.iter().map(|value| 1.0 / value).collect(),
                "Neg" => $values.iter().map(|value| -value).collect(),
                "Abs" => $values.iter().map(|value| value.abs()).collect(),
                _ => return None,
            }
        };
    }
    macro_rules! integers {
        ($values:expr) => {
            match operator {
                "Neg" => $values.iter().map(|value| value.wrapping_neg()).collect(),
                "Abs" => $values.iter().map(|value| value.wrapping_abs()).collect(),
                _ => return None,
            }
        };
    }
    let data = match &tensor.data {
        Data::Float(values) => Data::Float(floats!(values)),
        Data::Double(values) => Data::Double(floats!(values)),
        Data::Int32(values) => Data::Int32(integers!(values)),
        Data::Int64(values) => Data::Int64(integers!(values)),
        Data::Bool(values) if operator == "Not" => Data::Bool(values.iter().map(|value| !value).collect()),
        Data::Bool(_) => return None,
    };
    Tensor::new(tensor.dims.clone(), data)
}

pub(super) fn symbols(inputs: &Inputs) -> Option<Symbols> {
    let first = inputs.symbols(0)?;
    let path = match (inputs.node.op_type.as_str(), first.element) {
        ("Floor", element::FLOAT) => "f32::floor",
        ("Ceil", element::FLOAT) => "f32::ceil",
        ("Sqrt", element::FLOAT) => "f32::sqrt",
        ("Reciprocal", element::FLOAT) => "f32::recip",
        ("Not", element::BOOL) => "core::ops::Not::not",
        _ => return None,
    };
    Symbols::map(&[first], first.element, |numbers| {
        Expression::call(Form::Function(path), numbers)
    })
}
