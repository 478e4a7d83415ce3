//! Small tensors whose elements are computed from the sizes of other tensors.
//!
//! Exporters compute sizes with dozens of operators. burn-onnx keeps sizes as scalars, arrays or tensors, and not every
//! operator takes each of them, so here each element becomes one Rust expression.

use onnx_ir::NodeProto;

use super::dims::broadcast_sizes;
use super::elements::{Elements, expanded};
use super::expression::{Expression, Reads};
use crate::operators::own::sizes;
use crate::prepare::nodes;
use crate::read::tensor::{Data, Tensor, count, element};

/// The most elements of such a tensor. The pads of an image are 8.
pub(super) const MAXIMUM_SYMBOLS: usize = 64;

/// A tensor of expressions of one element type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Symbols {
    pub dims: Vec<usize>,
    pub elements: Vec<Expression>,
    /// The ONNX code of the element type.
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

    /// A constant, if it is small and expressions have its element type.
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

    /// Applies an operation to the elements of tensors that are broadcast.
    pub fn map(
        inputs: &[&Self],
        element: i32,
        operation: impl Fn(Vec<Expression>) -> Option<Expression>,
    ) -> Option<Self> {
        let mut all = inputs.iter();
        let sizes = all.try_fold(Vec::new(), |sizes, input| broadcast_sizes(&sizes, &input.dims))?;
        (count(&sizes)? <= MAXIMUM_SYMBOLS).then_some(())?;
        let expanded = inputs.iter().map(|input| expanded(*input, &sizes));
        let expanded: Vec<Self> = expanded.collect::<Option<_>>()?;
        let at = |at: usize| operation(expanded.iter().map(|input| input.elements[at].clone()).collect());
        let elements = (0..count(&sizes)?).map(at).collect::<Option<_>>()?;
        Self::new(sizes, elements, element)
    }

    /// The node that computes the elements when the model runs.
    pub fn node(&self, name: &str) -> NodeProto {
        let mut reads = Reads::default();
        let code = self.elements.iter().map(|element| element.code(&mut reads)).collect();
        let attributes = vec![
            nodes::texts(sizes::CODE, code),
            nodes::ints(sizes::SIZES, self.dims.iter().map(|&size| size as i64).collect()),
            nodes::int(sizes::ELEMENT, self.element.into()),
        ];
        nodes::own(sizes::NAME, reads.names, vec![name.to_string()], attributes)
    }
}

impl Elements for Symbols {
    fn sizes(&self) -> &[usize] {
        &self.dims
    }

    fn with_sizes(&self, sizes: Vec<usize>) -> Option<Self> {
        Self::new(sizes, self.elements.clone(), self.element)
    }

    fn take(&self, sizes: Vec<usize>, indices: &[usize]) -> Option<Self> {
        (indices.len() <= MAXIMUM_SYMBOLS).then_some(())?;
        let elements = indices.iter().map(|&index| self.elements.get(index).cloned());
        Self::new(sizes, elements.collect::<Option<_>>()?, self.element)
    }

    fn joined(&self, other: &Self) -> Option<Self> {
        (self.element == other.element).then_some(())?;
        let elements = [&self.elements[..], &other.elements].concat();
        Self::new(vec![elements.len()], elements, self.element)
    }
}
