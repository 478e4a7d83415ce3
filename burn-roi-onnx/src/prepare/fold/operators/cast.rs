//! `Cast`.

use crate::prepare::fold::expression::{Expression, Form};
use crate::prepare::fold::inputs::Inputs;
use crate::prepare::fold::symbols::Symbols;
use crate::read::node::NodeAttributes;
use crate::read::tensor::{Data, Tensor, element};

/// The element type that a node casts to.
fn to(inputs: &Inputs) -> Option<i32> {
    i32::try_from(inputs.node.int("to", 0)).ok()
}

pub(super) fn constant(inputs: &Inputs) -> Option<Tensor> {
    let (tensor, to) = (inputs.value(0)?, to(inputs)?);
    macro_rules! numbers {
        ($values:expr) => {
            match to {
                element::FLOAT => Data::Float($values.iter().map(|&value| value as f32).collect()),
                element::DOUBLE => Data::Double($values.iter().map(|&value| value as f64).collect()),
                element::INT32 => Data::Int32($values.iter().map(|&value| value as i32).collect()),
                element::INT64 => Data::Int64($values.iter().map(|&value| value as i64).collect()),
                element::BOOL => Data::Bool($values.iter().map(|&value| value as f64 != 0.0).collect()),
                _ => return None,
            }
        };
    }
    let data = match &tensor.data {
        // Machines differ in the result for a float that is out of range or NaN.
        Data::Float(values) if !casts(values.iter().map(|&value| value.into()), to) => return None,
        Data::Double(values) if !casts(values.iter().copied(), to) => return None,
        Data::Float(values) => numbers!(values),
        Data::Double(values) => numbers!(values),
        Data::Int32(values) => numbers!(values),
        Data::Int64(values) => numbers!(values),
        Data::Bool(values) => {
            let values: Vec<u8> = values.iter().map(|&value| value.into()).collect();
            numbers!(values)
        }
    };
    Tensor::new(tensor.dims.clone(), data)
}

/// Whether all floats are in the range of the element type `to`.
fn casts(mut values: impl Iterator<Item = f64>, to: i32) -> bool {
    let limit = match to {
        element::INT32 => 2f64.powi(31),
        element::INT64 => 2f64.powi(63),
        _ => return true,
    };
    values.all(|value| value.abs() < limit)
}

pub(super) fn symbols(inputs: &Inputs) -> Option<Symbols> {
    let (first, to) = (inputs.symbols(0)?, to(inputs)?);
    Symbols::map(&[first], to, |numbers| expression(first.element, to, numbers))
}

fn expression(from: i32, to: i32, numbers: Vec<Expression>) -> Option<Expression> {
    match (from, to) {
        (from, to) if from == to => numbers.into_iter().next(),
        (element::INT64 | element::INT32, element::FLOAT) => Expression::call(Form::As("f32"), numbers),
        (element::FLOAT | element::BOOL | element::INT32, element::INT64) => Expression::call(Form::As("i64"), numbers),
        // Integers are computed as i64, so the result is truncated to 32 bits.
        (element::INT64 | element::FLOAT, element::INT32) => {
            let low = Expression::call(Form::As("i32"), numbers)?;
            Expression::call(Form::As("i64"), vec![low])
        }
        (element::INT64, element::BOOL) => {
            let numbers = numbers.into_iter().chain([Expression::Int(0)]).collect();
            Expression::call(Form::Between("!="), numbers)
        }
        _ => None,
    }
}
