//! A node, and what is known of its inputs.

use onnx_ir::NodeProto;

use super::dims::Dims;
use super::known::Known;
use super::symbols::Symbols;
use crate::read::node::NodeAttributes;
use crate::read::tensor::Tensor;

pub(super) struct Inputs<'a> {
    pub node: &'a NodeProto,
    pub known: Vec<Known>,
}

impl Inputs<'_> {
    /// Whether the node has the input at an index.
    pub fn has(&self, at: usize) -> bool {
        self.node.input.get(at).is_some_and(|name| !name.is_empty())
    }

    /// The sizes of an input.
    pub fn dims(&self, at: usize) -> Option<&Dims> {
        self.known.get(at)?.dims.as_ref()
    }

    /// The sizes of an input, if all are known.
    pub fn sizes(&self, at: usize) -> Option<Vec<usize>> {
        self.known.get(at)?.sizes()
    }

    /// An input that is a constant.
    pub fn value(&self, at: usize) -> Option<&Tensor> {
        self.known.get(at)?.value.as_deref()
    }

    /// All inputs, if they are constants.
    pub fn values(&self) -> Option<Vec<&Tensor>> {
        (0..self.known.len()).map(|at| self.value(at)).collect()
    }

    /// The elements of an input that is a constant of integers.
    pub fn integers(&self, at: usize) -> Option<Vec<i64>> {
        self.value(at)?.integers()
    }

    /// The elements of an input of integers of rank 0 or 1; `None` for those that are not constants.
    pub fn elements(&self, at: usize) -> Option<Vec<Option<i64>>> {
        self.known.get(at)?.elements()
    }

    /// An input whose elements are computed from sizes.
    pub fn symbols(&self, at: usize) -> Option<&Symbols> {
        self.known.get(at)?.symbols.as_deref()
    }

    /// All inputs, if their elements are computed from sizes.
    pub fn all_symbols(&self) -> Option<Vec<&Symbols>> {
        (0..self.known.len()).map(|at| self.symbols(at)).collect()
    }

    /// The axes: an attribute or, in newer versions, the second input.
    pub fn axes(&self) -> Option<Vec<i64>> {
        match self.node.ints("axes") {
            Some(axes) => Some(axes.to_vec()),
            None => self.integers(1),
        }
    }
}
