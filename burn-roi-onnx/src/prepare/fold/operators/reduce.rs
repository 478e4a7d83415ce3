//! Reductions along axes. Sums and products of floats stay in the graph, since the last bit depends on the order.

use ndarray::{ArrayViewD, Axis, IxDyn};

use super::binary;
use crate::prepare::fold::dims::{self, Dims};
use crate::prepare::fold::inputs::Inputs;
use crate::prepare::fold::symbols::Symbols;
use crate::read::node::NodeAttributes;
use crate::read::tensor::{Data, Tensor, element};

/// The reduced axes. `None` if they are unknown, or if there are none.
fn axes(inputs: &Inputs) -> Option<Vec<usize>> {
    let rank = inputs.dims(0)?.len();
    match inputs.axes() {
        None if inputs.has(1) || inputs.node.int("noop_with_empty_axes", 0) != 0 => None,
        None => Some((0..rank).collect()),
        Some(axes) => dims::axes(&axes, rank),
    }
}

pub(super) fn shape(inputs: &Inputs) -> Option<Dims> {
    let axes = axes(inputs)?;
    let keeps = inputs.node.int("keepdims", 1) != 0;
    let size = |(at, &size): (usize, &Option<usize>)| match (axes.contains(&at), keeps) {
        (false, _) => Some(size),
        (true, true) => Some(Some(1)),
        (true, false) => None,
    };
    Some(inputs.dims(0)?.iter().enumerate().filter_map(size).collect())
}

pub(super) fn constant(inputs: &Inputs) -> Option<Tensor> {
    let (tensor, mut axes) = (inputs.value(0)?, axes(inputs)?);
    axes.iter().all(|&at| tensor.dims[at] > 0).then_some(())?;
    axes.sort_unstable();
    axes.dedup();
    macro_rules! reduced {
        ($values:expr, $operation:expr) => {{
            let mut array = ArrayViewD::from_shape(IxDyn(&tensor.dims), $values).ok()?.to_owned();
            for &at in axes.iter().rev() {
                array = array.map_axis(Axis(at), |lane| {
                    lane.iter().copied().reduce($operation).unwrap_or_default()
                });
            }
            array.iter().copied().collect()
        }};
    }
    let data = match (&tensor.data, inputs.node.op_type.as_str()) {
        (Data::Int64(values), "ReduceMin") => Data::Int64(reduced!(values, |a: i64, b| a.min(b))),
        (Data::Int64(values), "ReduceMax") => Data::Int64(reduced!(values, |a: i64, b| a.max(b))),
        (Data::Int64(values), "ReduceProd") => Data::Int64(reduced!(values, |a: i64, b| a.wrapping_mul(b))),
        (Data::Int64(values), "ReduceSum") => Data::Int64(reduced!(values, |a: i64, b| a.wrapping_add(b))),
        (Data::Float(values), "ReduceMin") => Data::Float(reduced!(values, |a: f32, b| if b < a { b } else { a })),
        (Data::Float(values), "ReduceMax") => Data::Float(reduced!(values, |a: f32, b| if b > a { b } else { a })),
        _ => return None,
    };
    Tensor::new(shape(inputs)?.into_iter().collect::<Option<_>>()?, data)
}

/// A reduction of all elements of a tensor of rank 1.
pub(super) fn symbols(inputs: &Inputs) -> Option<Symbols> {
    let tensor = inputs.symbols(0)?;
    (tensor.dims.len() == 1 && axes(inputs)? == [0]).then_some(())?;
    let operator = match (inputs.node.op_type.as_str(), tensor.element) {
        ("ReduceMax", _) => "Max",
        ("ReduceMin", _) => "Min",
        (_, element::FLOAT) => return None,
        ("ReduceProd", _) => "Mul",
        _ => "Add",
    };
    let mut elements = tensor.elements.iter().cloned();
    let first = elements.next()?;
    let result = elements.try_fold(first, |result, next| {
        binary::number(operator, tensor.element, vec![result, next])
    })?;
    Symbols::new(
        shape(inputs)?.into_iter().collect::<Option<_>>()?,
        vec![result],
        tensor.element,
    )
}
