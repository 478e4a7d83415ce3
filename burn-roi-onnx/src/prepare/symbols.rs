//! Small tensors whose elements are computed from the sizes of other tensors.
//!
//! Exporters compute sizes with dozens of operators, on values that burn-onnx keeps as numbers, as arrays or as
//! tensors, and not every operator takes each of them. Here each element becomes one expression of Rust.

use onnx_ir::NodeProto;

use super::attribute::Of;
use super::expression::{Expression, Form};
use super::layout::{axis, broadcast};
use super::tensor::{Data, Tensor, count, element};

/// The most elements of such a tensor. The pads of a picture have 8.
pub(super) const MAXIMUM_SYMBOLS: usize = 64;

/// A tensor of expressions of one element type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Symbols {
    pub dims: Vec<usize>,
    pub elements: Vec<Expression>,
    /// ONNX's number of the element type.
    pub element: i32,
}

impl Symbols {
    pub fn new(dims: Vec<usize>, elements: Vec<Expression>, element: i32) -> Option<Self> {
        let fits = elements.len() <= MAXIMUM_SYMBOLS && count(&dims)? == elements.len();
        fits.then_some(Self {
            dims,
            elements,
            element,
        })
    }

    /// A constant, if it is small and of a type that expressions have.
    pub fn of(tensor: &Tensor) -> Option<Self> {
        (tensor.data.len() <= MAXIMUM_SYMBOLS).then_some(())?;
        let elements = match &tensor.data {
            Data::Int64(values) => values.iter().copied().map(Expression::Int).collect(),
            Data::Float(values) => values.iter().copied().map(Expression::float).collect(),
            Data::Bool(values) => values.iter().copied().map(Expression::Bool).collect(),
            Data::Int32(values) => values.iter().map(|&value| Expression::Int(value.into())).collect(),
            Data::Double(_) => return None,
        };
        Self::new(tensor.dims.clone(), elements, tensor.data.element())
    }

    /// The constant, if all elements are.
    pub fn constant(&self) -> Option<Tensor> {
        let ints = || self.elements.iter().map(Expression::int).collect::<Option<Vec<_>>>();
        let float = |element: &Expression| match element {
            Expression::Float(bits) => Some(f32::from_bits(*bits)),
            _ => None,
        };
        let truth = |element: &Expression| match element {
            Expression::Bool(value) => Some(*value),
            _ => None,
        };
        let data = match self.element {
            element::INT64 => Data::Int64(ints()?),
            element::INT32 => Data::Int32(ints()?.into_iter().map(|value| value as i32).collect()),
            element::FLOAT => Data::Float(self.elements.iter().map(float).collect::<Option<_>>()?),
            _ => Data::Bool(self.elements.iter().map(truth).collect::<Option<_>>()?),
        };
        Tensor::new(self.dims.clone(), data)
    }

    /// The places of the elements, as a tensor that operators can move. The first place has the number `first`.
    pub fn places(&self, first: usize) -> Tensor {
        let places = (first..first + self.elements.len()).map(|place| place as i64);
        Tensor {
            dims: self.dims.clone(),
            data: Data::Int64(places.collect()),
        }
    }
}

/// The elements of some tensors at the places that an operator moved.
pub(super) fn at_places(tensors: &[&Symbols], places: &Tensor) -> Option<Symbols> {
    let element = tensors.first()?.element;
    tensors.iter().all(|tensor| tensor.element == element).then_some(())?;
    let all: Vec<_> = tensors.iter().flat_map(|tensor| &tensor.elements).collect();
    let at = |place: i64| all.get(usize::try_from(place).ok()?).map(|&element| element.clone());
    let elements = places.integers()?.into_iter().map(at).collect::<Option<_>>()?;
    Symbols::new(places.dims.clone(), elements, element)
}

/// An operator that computes element by element.
pub(super) fn compute(node: &NodeProto, inputs: &[&Symbols]) -> Option<Symbols> {
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

/// Computes each element of the tensors' broadcast.
fn map(
    inputs: &[&Symbols],
    element: i32,
    mut operation: impl FnMut(Vec<Expression>) -> Option<Expression>,
) -> Option<Symbols> {
    let dims = inputs
        .iter()
        .try_fold(Vec::new(), |dims, input| broadcast(&dims, &input.dims))?;
    let sizes: Vec<i64> = dims.iter().map(|&size| size as i64).collect();
    (count(&dims)? <= MAXIMUM_SYMBOLS).then_some(())?;
    let spread = |input: &&Symbols| super::layout::expand(&input.places(0), &sizes)?.integers();
    let places: Vec<_> = inputs.iter().map(spread).collect::<Option<_>>()?;
    let at = |at: usize| {
        let numbers = inputs.iter().zip(&places);
        let numbers = numbers.map(|(input, places)| input.elements[places[at] as usize].clone());
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
        // Integers are computed in 64 bits, of which the lower half counts here.
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
    // Of one number and itself, as torch computes the largest of one size.
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
    // Exporters ask whether a size is -1.
    match (&numbers[..], operator) {
        ([Expression::Size(..), Expression::Int(..=-1)], "Equal") => Some(Expression::Bool(false)),
        ([first, second], "Equal") if first == second => Some(Expression::Bool(true)),
        ([Expression::Int(first), Expression::Int(second)], "Equal") => Some(Expression::Bool(first == second)),
        _ => Expression::call(Form::Between(form), numbers),
    }
}

/// A reduction of all elements of a tensor of rank 1.
pub(super) fn reduce(node: &NodeProto, tensor: &Symbols, axes: Option<&[i64]>) -> Option<Symbols> {
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
