//! Operators on the elements of two tensors that are broadcast.

use ndarray::{ArrayViewD, IxDyn};

use crate::prepare::fold::dims::broadcast_sizes;
use crate::prepare::fold::expression::{Expression, Form};
use crate::prepare::fold::inputs::Inputs;
use crate::prepare::fold::symbols::Symbols;
use crate::read::tensor::{Data, Tensor, count, element};

pub(super) fn constant(inputs: &Inputs) -> Option<Tensor> {
    let operator = inputs.node.op_type.as_str();
    match (operator, &inputs.values()?[..]) {
        ("Min" | "Max", [first, others @ ..]) => others
            .iter()
            .try_fold((*first).clone(), |result, next| of_two(operator, &result, next)),
        (_, [first, second]) => of_two(operator, first, second),
        _ => None,
    }
}

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

/// The result for two constants. `None` if the node must stay in the graph, such as an integer division by 0.
fn of_two(operator: &str, first: &Tensor, second: &Tensor) -> Option<Tensor> {
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

/// An operator whose result has the element type of its inputs.
pub(super) fn arithmetic(inputs: &Inputs) -> Option<Symbols> {
    let all = inputs.all_symbols().filter(|all| all.len() == 2)?;
    let element = all[0].element;
    Symbols::map(&all, element, |numbers| number(&inputs.node.op_type, element, numbers))
}

/// An operator whose result is a boolean.
pub(super) fn comparison(inputs: &Inputs) -> Option<Symbols> {
    let all = inputs.all_symbols().filter(|all| all.len() == 2)?;
    Symbols::map(&all, element::BOOL, |numbers| truth(&inputs.node.op_type, numbers))
}

/// `Clip` of integers, whose bounds are inputs that a node may leave out.
pub(super) fn clip(inputs: &Inputs) -> Option<Symbols> {
    let mut clipped = inputs.symbols(0)?.clone();
    let element = clipped.element;
    let integers = matches!(element, element::INT64 | element::INT32);
    (integers && inputs.node.attribute.is_empty()).then_some(())?;
    for (at, operator) in [(1, "Max"), (2, "Min")] {
        if inputs.has(at) {
            let bound = inputs.symbols(at).filter(|bound| bound.dims.is_empty())?;
            clipped = Symbols::map(&[&clipped, bound], element, |numbers| {
                number(operator, element, numbers)
            })?;
        }
    }
    Some(clipped)
}

pub(super) fn number(operator: &str, element: i32, numbers: Vec<Expression>) -> Option<Expression> {
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

fn truth(operator: &str, numbers: Vec<Expression>) -> Option<Expression> {
    let form = match operator {
        "Equal" => "==",
        "Less" => "<",
        "Greater" => ">",
        "LessOrEqual" => "<=",
        "GreaterOrEqual" => ">=",
        "And" => "&",
        "Or" => "|",
        _ => return None,
    };
    // Exporters compare sizes with -1.
    match (&numbers[..], operator) {
        ([Expression::Size(..), Expression::Int(..=-1)], "Equal") => Some(Expression::Bool(false)),
        ([first, second], "Equal") if first == second => Some(Expression::Bool(true)),
        ([Expression::Int(first), Expression::Int(second)], "Equal") => Some(Expression::Bool(first == second)),
        _ => Expression::call(Form::Between(form), numbers),
    }
}
