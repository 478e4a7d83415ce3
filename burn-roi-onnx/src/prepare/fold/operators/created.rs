//! Operators whose output depends on no elements of an input, except for sizes and bounds.

use onnx_ir::NodeProto;

use super::shapes;
use crate::prepare::fold::dims::Dims;
use crate::prepare::fold::elements::Elements;
use crate::prepare::fold::expression::{Expression, Form};
use crate::prepare::fold::inputs::Inputs;
use crate::prepare::fold::symbols::Symbols;
use crate::read::node::NodeAttributes;
use crate::read::tensor::{Data, Tensor, count, element, sizes_of};

/// `Constant`.
pub(super) fn constant(inputs: &Inputs) -> Option<Tensor> {
    let node = inputs.node;
    if let Some(value) = node.tensor("value") {
        return Tensor::of(value);
    }
    if let Some(values) = node.ints("value_ints") {
        return Some(Tensor::of_integers(values.to_vec()));
    }
    node.attribute("value_int").map(|value| Tensor::of_integer(value.i))
}

/// The sizes of `ConstantOfShape`.
pub(super) fn filled_shape(inputs: &Inputs) -> Option<Dims> {
    shapes::requested(inputs, 0)
}

/// `ConstantOfShape`.
pub(super) fn filled(inputs: &Inputs) -> Option<Tensor> {
    let dims = sizes_of(&inputs.integers(0)?)?;
    let value = match inputs.node.tensor("value") {
        Some(value) => Tensor::of(value)?,
        None => Tensor {
            dims: vec![1],
            data: Data::Float(vec![0.0]),
        },
    };
    (value.data.len() == 1).then_some(())?;
    value.take(dims.clone(), &vec![0; count(&dims)?])
}

/// `Range` of integers. With floats, rounding decides the number of elements, so those stay in the graph.
pub(super) fn range(inputs: &Inputs) -> Option<Tensor> {
    let integer = |at: usize| inputs.value(at)?.integer();
    let (Data::Int64(_), start, limit, step) = (&inputs.value(0)?.data, integer(0)?, integer(1)?, integer(2)?) else {
        return None;
    };
    (step != 0).then_some(())?;
    let span = i128::from(limit) - i128::from(start);
    let elements = usize::try_from((span as f64 / step as f64).ceil().max(0.0) as u64).ok()?;
    count(&[elements])?;
    let values = (0..elements as i64).map(|at| start.wrapping_add(at.wrapping_mul(step)));
    Some(Tensor::of_integers(values.collect()))
}

/// The size of the output of `Shape` without attributes.
pub(super) fn shape_shape(inputs: &Inputs) -> Option<Dims> {
    let of_all = inputs.node.attribute.is_empty();
    of_all.then_some(vec![inputs.known.first()?.rank()])
}

/// `Shape`.
pub(super) fn shape(inputs: &Inputs) -> Option<Symbols> {
    let sizes = sizes(inputs)?;
    let sizes = sizes[range_of_axes(inputs.node, sizes.len())].to_vec();
    Symbols::new(vec![sizes.len()], sizes, element::INT64)
}

/// The axes whose sizes `Shape` returns.
fn range_of_axes(node: &NodeProto, rank: usize) -> std::ops::Range<usize> {
    let rank = rank as i64;
    let clamped = |at: i64| if at < 0 { at.saturating_add(rank) } else { at }.clamp(0, rank) as usize;
    let (start, end) = (clamped(node.int("start", 0)), clamped(node.int("end", rank)));
    start..end.max(start)
}

/// `Size` of a tensor of known sizes.
pub(super) fn size(inputs: &Inputs) -> Option<Tensor> {
    let sizes = inputs.sizes(0)?;
    let mut sizes = sizes.iter().map(|&size| i64::try_from(size).ok());
    let product = sizes.try_fold(1i64, |all, size| all.checked_mul(size?));
    product.map(Tensor::of_integer)
}

/// `Size`, as a product.
pub(super) fn product(inputs: &Inputs) -> Option<Symbols> {
    let mut sizes = sizes(inputs)?.into_iter();
    let product = sizes.try_fold(Expression::Int(1), |product, size| match product {
        Expression::Int(1) => Some(size),
        _ => Expression::call(Form::Function("i64::wrapping_mul"), vec![product, size]),
    });
    Symbols::new(Vec::new(), vec![product?], element::INT64)
}

/// The sizes of the first input.
fn sizes(inputs: &Inputs) -> Option<Vec<Expression>> {
    let (name, dims) = (inputs.node.input.first()?, inputs.dims(0)?);
    let size = |(axis, size): (usize, &Option<usize>)| match size {
        Some(size) => Expression::Int(*size as i64),
        None => Expression::Size(name.as_str().into(), axis),
    };
    Some(dims.iter().enumerate().map(size).collect())
}
