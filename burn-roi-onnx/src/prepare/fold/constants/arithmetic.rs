//! Operators that compute with the elements of constants. They return `None` if the node must stay in the graph, such
//! as an integer division by 0.

use ndarray::{ArrayViewD, Axis, IxDyn};
use onnx_ir::NodeProto;

use super::layout::expand;
use crate::prepare::fold::dims::{self, broadcast_sizes};
use crate::read::node::NodeAttributes;
use crate::read::tensor::{Data, Tensor, count, element, sizes_of};

/// Applies an operation to the elements of two tensors that are broadcast.
fn pair<T: Copy, R>(
    first: (&[usize], &[T]),
    second: (&[usize], &[T]),
    mut operation: impl FnMut(T, T) -> Option<R>,
) -> Option<(Vec<usize>, Vec<R>)> {
    let dims = broadcast_sizes(first.0, second.0)?;
    let elements = count(&dims)?;
    let view = |(dims, elements)| ArrayViewD::from_shape(IxDyn(dims), elements).ok();
    let (first, second) = (view(first)?, view(second)?);
    let pairs = first
        .broadcast(IxDyn(&dims))?
        .into_iter()
        .zip(second.broadcast(IxDyn(&dims))?);
    let mut results = Vec::with_capacity(elements);
    for (&first, &second) in pairs {
        results.push(operation(first, second)?);
    }
    Some((dims, results))
}

/// A binary operator.
pub(super) fn binary(operator: &str, first: &Tensor, second: &Tensor) -> Option<Tensor> {
    macro_rules! numbers {
        ($first:expr, $second:expr, $variant:ident, $number:ty, $divide:expr, $wrapping:tt) => {{
            let (first, second) = ((&first.dims[..], &$first[..]), (&second.dims[..], &$second[..]));
            let number = |operation: fn($number, $number) -> Option<$number>| {
                let (dims, results) = pair(first, second, operation)?;
                Tensor::new(dims, Data::$variant(results))
            };
            let truth = |operation: fn(&$number, &$number) -> bool| {
                let (dims, results) = pair(first, second, |a, b| Some(operation(&a, &b)))?;
                Tensor::new(dims, Data::Bool(results))
            };
            match operator {
                "Add" => number(|a, b| arithmetic!($wrapping, a, wrapping_add, +, b)),
                "Sub" => number(|a, b| arithmetic!($wrapping, a, wrapping_sub, -, b)),
                "Mul" => number(|a, b| arithmetic!($wrapping, a, wrapping_mul, *, b)),
                "Div" => number($divide),
                "Min" => number(|a, b| Some(if a < b || a != a { a } else { b })),
                "Max" => number(|a, b| Some(if a > b || a != a { a } else { b })),
                "Equal" => truth(<$number as PartialEq>::eq),
                "Less" => truth(<$number as PartialOrd>::lt),
                "Greater" => truth(<$number as PartialOrd>::gt),
                "LessOrEqual" => truth(<$number as PartialOrd>::le),
                "GreaterOrEqual" => truth(<$number as PartialOrd>::ge),
                _ => None,
            }
        }};
    }
    macro_rules! arithmetic {
        (wrapping, $a:ident, $method:ident, $operator:tt, $b:ident) => {
            Some($a.$method($b))
        };
        (float, $a:ident, $method:ident, $operator:tt, $b:ident) => {
            Some($a $operator $b)
        };
    }
    match (&first.data, &second.data) {
        (Data::Float(a), Data::Float(b)) => numbers!(a, b, Float, f32, |a, b| Some(a / b), float),
        (Data::Double(a), Data::Double(b)) => numbers!(a, b, Double, f64, |a, b| Some(a / b), float),
        (Data::Int32(a), Data::Int32(b)) => numbers!(a, b, Int32, i32, i32::checked_div, wrapping),
        (Data::Int64(a), Data::Int64(b)) => numbers!(a, b, Int64, i64, i64::checked_div, wrapping),
        (Data::Bool(a), Data::Bool(b)) => {
            let operation: fn(bool, bool) -> bool = match operator {
                "And" => |a, b| a & b,
                "Or" => |a, b| a | b,
                "Xor" => |a, b| a ^ b,
                "Equal" => |a, b| a == b,
                _ => return None,
            };
            let (first, second) = ((&first.dims[..], &a[..]), (&second.dims[..], &b[..]));
            let (dims, results) = pair(first, second, |a, b| Some(operation(a, b)))?;
            Tensor::new(dims, Data::Bool(results))
        }
        _ => None,
    }
}

/// A unary operator. Only those that every machine rounds alike.
pub(super) fn unary(operator: &str, tensor: &Tensor) -> Option<Tensor> {
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

/// `Cast` to an element type.
pub(super) fn cast(tensor: &Tensor, to: i32) -> Option<Tensor> {
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

/// `Where`.
pub(super) fn choose(condition: &Tensor, first: &Tensor, second: &Tensor) -> Option<Tensor> {
    let dims = broadcast_sizes(&condition.dims, &broadcast_sizes(&first.dims, &second.dims)?)?;
    let sizes: Vec<i64> = dims.iter().map(|&size| size as i64).collect();
    let (first, second) = (expand(first, &sizes)?, expand(second, &sizes)?);
    let Data::Bool(condition) = expand(condition, &sizes)?.data else {
        return None;
    };
    let offset = first.data.len();
    let order = condition
        .iter()
        .enumerate()
        .map(|(at, &first)| if first { at } else { at + offset });
    first.joined(&second)?.take(dims, &order.collect::<Vec<_>>())
}

/// `Range` of integers. With floats, rounding decides the number of elements, so those stay in the graph.
pub(super) fn range(start: &Tensor, limit: &Tensor, step: &Tensor) -> Option<Tensor> {
    let (Data::Int64(_), start, limit, step) = (&start.data, start.integer()?, limit.integer()?, step.integer()?)
    else {
        return None;
    };
    (step != 0).then_some(())?;
    let span = i128::from(limit) - i128::from(start);
    let elements = usize::try_from((span as f64 / step as f64).ceil().max(0.0) as u64).ok()?;
    count(&[elements])?;
    let values = (0..elements as i64).map(|at| start.wrapping_add(at.wrapping_mul(step)));
    Some(Tensor::of_integers(values.collect()))
}

/// `ConstantOfShape`.
pub(super) fn filled(node: &NodeProto, sizes: &[i64]) -> Option<Tensor> {
    let dims = sizes_of(sizes)?;
    let value = match node.tensor("value") {
        Some(value) => Tensor::of(value)?,
        None => Tensor {
            dims: vec![1],
            data: Data::Float(vec![0.0]),
        },
    };
    (value.data.len() == 1).then_some(())?;
    value.take(dims.clone(), &vec![0; count(&dims)?])
}

/// Reductions along axes. Sums and products of floats stay in the graph, since the last bit depends on the order.
pub(super) fn reduce(node: &NodeProto, tensor: &Tensor, axes: Option<&[i64]>) -> Option<Tensor> {
    let rank = tensor.dims.len();
    let axes: Vec<usize> = match axes {
        Some(axes) => dims::axes(axes, rank)?,
        None => (0..rank).collect(),
    };
    let keeps = node.int("keepdims", 1) != 0;
    let mut dims = Vec::new();
    for (at, &size) in tensor.dims.iter().enumerate() {
        match axes.contains(&at) {
            true if size == 0 => return None,
            true if keeps => dims.push(1),
            true => {}
            false => dims.push(size),
        }
    }
    macro_rules! reduced {
        ($values:expr, $operation:expr) => {{
            let mut array = ArrayViewD::from_shape(IxDyn(&tensor.dims), $values).ok()?.to_owned();
            let mut descending = axes.clone();
            descending.sort_unstable();
            descending.dedup();
            for &at in descending.iter().rev() {
                array = array.map_axis(Axis(at), |lane| {
                    lane.iter().copied().reduce($operation).unwrap_or_default()
                });
            }
            array.iter().copied().collect()
        }};
    }
    let operator = node.op_type.as_str();
    let data = match (&tensor.data, operator) {
        (Data::Int64(values), "ReduceMin") => Data::Int64(reduced!(values, |a: i64, b| a.min(b))),
        (Data::Int64(values), "ReduceMax") => Data::Int64(reduced!(values, |a: i64, b| a.max(b))),
        (Data::Int64(values), "ReduceProd") => Data::Int64(reduced!(values, |a: i64, b| a.wrapping_mul(b))),
        (Data::Int64(values), "ReduceSum") => Data::Int64(reduced!(values, |a: i64, b| a.wrapping_add(b))),
        (Data::Float(values), "ReduceMin") => Data::Float(reduced!(values, |a: f32, b| if b < a { b } else { a })),
        (Data::Float(values), "ReduceMax") => Data::Float(reduced!(values, |a: f32, b| if b > a { b } else { a })),
        _ => return None,
    };
    Tensor::new(dims, data)
}
