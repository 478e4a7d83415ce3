//! Operators on small tensors that are computed from sizes: each element of the output becomes an expression.

use onnx_ir::NodeProto;

use super::constants;
use super::dims::{axis, broadcast_sizes, shape_range};
use super::expression::{Expression, Form};
use super::inputs::Inputs;
use super::known::Known;
use super::symbols::{MAXIMUM_SYMBOLS, Symbols};
use crate::read::node::NodeAttributes;
use crate::read::tensor::{count, element};

/// The outputs, if their elements can be computed from sizes.
pub(super) fn of_outputs(inputs: &Inputs) -> Option<Vec<Symbols>> {
    match inputs.node.op_type.as_str() {
        "Split" => split(inputs),
        _ => Some(vec![of_first(inputs)?]),
    }
}

/// The first output.
fn of_first(inputs: &Inputs) -> Option<Symbols> {
    match inputs.node.op_type.as_str() {
        "Shape" => {
            let sizes = sizes(inputs)?;
            let sizes = sizes[shape_range(inputs.node, sizes.len())].to_vec();
            Symbols::new(vec![sizes.len()], sizes, element::INT64)
        }
        "Size" => {
            let product = sizes(inputs)?
                .into_iter()
                .try_fold(Expression::Int(1), |product, size| match product {
                    Expression::Int(1) => Some(size),
                    _ => Expression::call(Form::Function("i64::wrapping_mul"), vec![product, size]),
                });
            Symbols::new(Vec::new(), vec![product?], element::INT64)
        }
        "Concat" => {
            let all = inputs.all_symbols()?;
            let mut indices = Vec::new();
            let mut first = 0;
            for symbols in &all {
                indices.push(symbols.indices(first));
                first += symbols.elements.len();
            }
            let moved = constants::concat(&indices.iter().collect::<Vec<_>>(), inputs.node)?;
            Symbols::at_indices(&all, &moved)
        }
        "Identity" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Transpose" | "Expand" | "Gather" | "Slice" => {
            let first = inputs.symbols(0)?;
            Symbols::at_indices(&[first], &constants::moved(&with_indices(inputs, first))?)
        }
        "Clip" => clip(inputs),
        "OneHot" => one_hot(inputs),
        "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceSum" => {
            reduce(inputs.node, inputs.symbols(0)?, inputs.reduced_axes()?.as_deref())
        }
        _ => elementwise(inputs.node, &inputs.all_symbols()?),
    }
}

/// The inputs with the indices of the first one's elements in their place.
fn with_indices<'a>(inputs: &Inputs<'a>, first: &Symbols) -> Inputs<'a> {
    let mut known = inputs.known.clone();
    known[0] = Known::of_tensor(first.indices(0));
    Inputs {
        node: inputs.node,
        known,
    }
}

fn split(inputs: &Inputs) -> Option<Vec<Symbols>> {
    let first = inputs.symbols(0)?;
    let parts = constants::of_outputs(&with_indices(inputs, first))?;
    parts.iter().map(|part| Symbols::at_indices(&[first], part)).collect()
}

/// `Clip` of integers, whose bounds are inputs that a node may leave out.
fn clip(inputs: &Inputs) -> Option<Symbols> {
    let mut clipped = inputs.symbols(0)?.clone();
    let element = clipped.element;
    let integers = matches!(element, element::INT64 | element::INT32);
    (integers && inputs.node.attribute.is_empty()).then_some(())?;
    for (at, operator) in [(1, "Max"), (2, "Min")] {
        if inputs.has(at) {
            let bound = inputs.symbols(at).filter(|bound| bound.dims.is_empty())?;
            clipped = map(&[&clipped, bound], element, |numbers| {
                arithmetic(operator, element, numbers)
            })?;
        }
    }
    Some(clipped)
}

/// `OneHot` of constant indices along the last axis. torch writes one to repeat batch indices.
fn one_hot(inputs: &Inputs) -> Option<Symbols> {
    let (indices, depth, values) = (inputs.value(0)?, inputs.integers(1)?, inputs.symbols(2)?);
    let (&[depth], [off, on]) = (&depth[..], &values.elements[..]) else {
        return None;
    };
    let fits = (1..=MAXIMUM_SYMBOLS as i64).contains(&depth) && indices.data.len() <= MAXIMUM_SYMBOLS;
    (fits && inputs.node.int("axis", -1) == -1).then_some(())?;
    // Negative indices count from the end.
    let of_index = |index: i64| (0..depth).map(move |at| if [at, at - depth].contains(&index) { on } else { off });
    let elements = indices.integers()?.into_iter().flat_map(of_index).cloned().collect();
    let dims = indices.dims.iter().copied().chain([depth as usize]).collect();
    Symbols::new(dims, elements, values.element)
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

/// The output of an operator that computes element by element.
fn elementwise(node: &NodeProto, inputs: &[&Symbols]) -> Option<Symbols> {
    let first = *inputs.first()?;
    let operator = node.op_type.as_str();
    match operator {
        "Cast" => {
            let to = i32::try_from(node.int("to", 0)).ok()?;
            map(&[first], to, |numbers| cast(first.element, to, numbers))
        }
        "Floor" | "Ceil" | "Sqrt" | "Reciprocal" | "Not" => {
            let path = match (operator, first.element) {
                ("Floor", element::FLOAT) => "f32::floor",
                ("Ceil", element::FLOAT) => "f32::ceil",
                ("Sqrt", element::FLOAT) => "f32::sqrt",
                ("Reciprocal", element::FLOAT) => "f32::recip",
                ("Not", element::BOOL) => "core::ops::Not::not",
                _ => return None,
            };
            map(&[first], first.element, |numbers| {
                Expression::call(Form::Function(path), numbers)
            })
        }
        "Add" | "Sub" | "Mul" | "Div" | "Min" | "Max" => {
            let second = *inputs.get(1).filter(|_| inputs.len() == 2)?;
            map(&[first, second], first.element, |numbers| {
                arithmetic(operator, first.element, numbers)
            })
        }
        "Equal" | "Less" | "Greater" | "LessOrEqual" | "GreaterOrEqual" | "And" | "Or" => {
            let second = *inputs.get(1)?;
            map(&[first, second], element::BOOL, |numbers| compare(operator, numbers))
        }
        "Where" => {
            let [condition, first, second] = inputs else {
                return None;
            };
            (condition.element == element::BOOL && first.element == second.element).then_some(())?;
            map(inputs, first.element, |numbers| match &numbers[..] {
                [Expression::Bool(true), first, _] => Some(first.clone()),
                [Expression::Bool(false), _, second] => Some(second.clone()),
                _ => Expression::call(Form::Choice, numbers),
            })
        }
        _ => None,
    }
}

/// Applies an operation to the elements of tensors that are broadcast.
fn map(
    inputs: &[&Symbols],
    element: i32,
    mut operation: impl FnMut(Vec<Expression>) -> Option<Expression>,
) -> Option<Symbols> {
    let dims = inputs
        .iter()
        .try_fold(Vec::new(), |dims, input| broadcast_sizes(&dims, &input.dims))?;
    let sizes: Vec<i64> = dims.iter().map(|&size| size as i64).collect();
    (count(&dims)? <= MAXIMUM_SYMBOLS).then_some(())?;
    let expanded = |input: &&Symbols| constants::expand(&input.indices(0), &sizes)?.integers();
    let indices: Vec<_> = inputs.iter().map(expanded).collect::<Option<_>>()?;
    let at = |at: usize| {
        let numbers = inputs.iter().zip(&indices);
        let numbers = numbers.map(|(input, indices)| input.elements[indices[at] as usize].clone());
        operation(numbers.collect())
    };
    let elements = (0..count(&dims)?).map(at).collect::<Option<_>>()?;
    Symbols::new(dims, elements, element)
}

fn cast(from: i32, to: i32, numbers: Vec<Expression>) -> Option<Expression> {
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

fn arithmetic(operator: &str, element: i32, numbers: Vec<Expression>) -> Option<Expression> {
    let element = if element == element::INT32 {
        element::INT64
    } else {
        element
    };
    let form = match (operator, element) {
        ("Add", element::INT64) => Form::Function("i64::wrapping_add"),
        ("Sub", element::INT64) => Form::Function("i64::wrapping_sub"),
        ("Mul", element::INT64) => Form::Function("i64::wrapping_mul"),
        ("Div", element::INT64) => Form::Quotient("i64"),
        ("Min", element::INT64) => Form::Function("i64::min"),
        ("Max", element::INT64) => Form::Function("i64::max"),
        ("Add", element::FLOAT) => Form::Between("+"),
        ("Sub", element::FLOAT) => Form::Between("-"),
        ("Mul", element::FLOAT) => Form::Between("*"),
        ("Div", element::FLOAT) => Form::Between("/"),
        ("Min", element::FLOAT) => Form::Function("f32::min"),
        ("Max", element::FLOAT) => Form::Function("f32::max"),
        _ => return None,
    };
    // torch computes the largest of one size as the maximum of it and itself.
    match (&numbers[..], operator) {
        ([first, second], "Min" | "Max") if first == second => Some(first.clone()),
        ([Expression::Int(0), other] | [other, Expression::Int(0)], "Add") => Some(other.clone()),
        // A division by 0 stays in the graph.
        ([_, Expression::Int(0)], "Div") => None,
        _ => Expression::call(form, numbers),
    }
}

fn compare(operator: &str, numbers: Vec<Expression>) -> Option<Expression> {
    let form = match operator {
        "Equal" => "==",
        "Less" => "<",
        "Greater" => ">",
        "LessOrEqual" => "<=",
        "GreaterOrEqual" => ">=",
        "And" => "&",
        _ => "|",
    };
    // Exporters compare sizes with -1.
    match (&numbers[..], operator) {
        ([Expression::Size(..), Expression::Int(..=-1)], "Equal") => Some(Expression::Bool(false)),
        ([first, second], "Equal") if first == second => Some(Expression::Bool(true)),
        ([Expression::Int(first), Expression::Int(second)], "Equal") => Some(Expression::Bool(first == second)),
        _ => Expression::call(Form::Between(form), numbers),
    }
}

/// A reduction of all elements of a tensor of rank 1.
fn reduce(node: &NodeProto, tensor: &Symbols, axes: Option<&[i64]>) -> Option<Symbols> {
    let all = axes.is_none_or(|axes| axes.len() == 1 && axis(axes[0], 1) == Some(0));
    (tensor.dims.len() == 1 && all).then_some(())?;
    let operator = match node.op_type.as_str() {
        "ReduceMax" => "Max",
        "ReduceMin" => "Min",
        "ReduceProd" => "Mul",
        "ReduceSum" => "Add",
        _ => return None,
    };
    let floats = tensor.element == element::FLOAT && matches!(operator, "Mul" | "Add");
    let mut elements = tensor.elements.iter().cloned();
    let first = elements.next().filter(|_| !floats)?;
    let result = elements.try_fold(first, |result, next| {
        arithmetic(operator, tensor.element, vec![result, next])
    })?;
    let dims = if node.int("keepdims", 1) != 0 {
        vec![1]
    } else {
        Vec::new()
    };
    Symbols::new(dims, vec![result], tensor.element)
}
