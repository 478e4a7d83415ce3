//! Expressions of the sizes of tensors, which the generated code computes when the model runs.

use std::collections::HashMap;
use std::rc::Rc;

/// The most operations of an expression. The longest in a detector have about 30.
const MAXIMUM_OPERATIONS: usize = 400;

/// A constant, the size of a tensor, or a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Int(i64),
    /// A float, by its bits, so that every float equals itself.
    Float(u32),
    Bool(bool),
    /// The size of a tensor along an axis.
    Size(Rc<str>, usize),
    /// A call of a Rust function or operator.
    Call(Rc<Call>),
}

/// A call, and how many operations it has in all.
#[derive(Debug, PartialEq)]
pub(crate) struct Call {
    form: Form,
    arguments: Vec<Expression>,
    operations: usize,
}

/// How a call is written in Rust.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Form {
    /// A function, by its path.
    Function(&'static str),
    /// An operator between two numbers.
    Between(&'static str),
    /// A conversion to a type.
    As(&'static str),
    /// The second number if the first is true, otherwise the third.
    Choice,
    /// The first integer over the second one. Over 0 the generated code panics, as ONNX Runtime ends the process.
    Quotient(&'static str),
}

impl Expression {
    pub fn float(value: f32) -> Self {
        Self::Float(value.to_bits())
    }

    /// A call, if it is not too long.
    pub fn call(form: Form, arguments: Vec<Self>) -> Option<Self> {
        let operations = 1 + arguments.iter().map(Self::operations).sum::<usize>();
        let call = Call {
            form,
            arguments,
            operations,
        };
        (operations <= MAXIMUM_OPERATIONS).then(|| Self::Call(Rc::new(call)))
    }

    fn operations(&self) -> usize {
        match self {
            Self::Call(call) => call.operations,
            _ => 0,
        }
    }

    /// The integer, if it is a constant.
    pub fn int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The Rust code. `reads` collects the tensors whose sizes it reads.
    pub fn code(&self, reads: &mut Reads) -> String {
        match self {
            Self::Int(value) => format!("({value}i64)"),
            Self::Float(bits) => format!("f32::from_bits({bits}u32)"),
            Self::Bool(value) => value.to_string(),
            Self::Size(tensor, axis) => format!("(burn_roi_sizes{}[{axis}] as i64)", reads.number(tensor)),
            Self::Call(call) => {
                let arguments: Vec<_> = call.arguments.iter().map(|argument| argument.code(reads)).collect();
                let all = arguments.join(", ");
                match (call.form, &arguments[..]) {
                    (Form::Between(operator), [first, second]) => format!("({first} {operator} {second})"),
                    (Form::As(kind), [only]) => format!("({only} as {kind})"),
                    (Form::Choice, [condition, first, second]) => {
                        format!("(if {condition} {{ {first} }} else {{ {second} }})")
                    }
                    (Form::Quotient(kind), _) => {
                        format!("{kind}::checked_div({all}).expect(\"a size is divided by 0\")")
                    }
                    (Form::Function(path), _) => format!("{path}({all})"),
                    _ => unreachable!("the form has another number of arguments"),
                }
            }
        }
    }
}

/// The tensors whose sizes an expression reads.
#[derive(Default)]
pub(crate) struct Reads {
    pub names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Reads {
    fn number(&mut self, tensor: &str) -> usize {
        let next = self.names.len();
        *self.numbers.entry(tensor.to_string()).or_insert_with(|| {
            self.names.push(tensor.to_string());
            next
        })
    }
}
