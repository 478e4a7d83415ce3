//! What is known of a value before the model runs.

use std::collections::HashMap;
use std::rc::Rc;

use onnx_ir::{TensorProto, ValueInfoProto};

use super::dims::Dims;
use super::expression::Expression;
use super::symbols::Symbols;
use crate::read::tensor::{MAXIMUM_RANK, Tensor};

/// What is known of a value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// The sizes, if the rank is known.
    pub dims: Option<Dims>,
    /// The value, if it is a constant.
    pub value: Option<Rc<Tensor>>,
    /// Its elements, if they are computed from the sizes of other values.
    pub symbols: Option<Rc<Symbols>>,
}

/// What is known of each value, by its name.
pub(crate) type Scope = HashMap<String, Known>;

impl Known {
    pub fn of_dims(dims: Dims) -> Self {
        Self {
            dims: (dims.len() <= MAXIMUM_RANK).then_some(dims),
            ..Self::default()
        }
    }

    pub fn of_tensor(tensor: Tensor) -> Self {
        Self {
            dims: Some(tensor.dims.iter().copied().map(Some).collect()),
            symbols: Symbols::of(&tensor).map(Rc::new),
            value: Some(Rc::new(tensor)),
        }
    }

    /// A tensor of expressions, or a constant if all of them are constants.
    pub fn of_symbols(symbols: Symbols) -> Self {
        match symbols.constant() {
            Some(tensor) => Self::of_tensor(tensor),
            None => Self {
                dims: Some(symbols.dims.iter().copied().map(Some).collect()),
                value: None,
                symbols: Some(Rc::new(symbols)),
            },
        }
    }

    /// The elements of a value of integers of rank 0 or 1; `None` for those that are not constants.
    pub fn elements(&self) -> Option<Vec<Option<i64>>> {
        let symbols = self.symbols.as_ref().filter(|symbols| symbols.dims.len() < 2)?;
        Some(symbols.elements.iter().map(Expression::int).collect())
    }

    /// An initializer.
    pub fn of_initializer(proto: &TensorProto) -> Self {
        match Tensor::of(proto) {
            Some(tensor) => Self::of_tensor(tensor),
            None => Self::of_dims(proto.dims.iter().map(|&size| usize::try_from(size).ok()).collect()),
        }
    }

    /// A value with a declared type.
    pub fn of_type(info: &ValueInfoProto) -> Self {
        let Some(kind) = info.type_.as_ref().filter(|kind| kind.has_tensor_type()) else {
            return Self::default();
        };
        let Some(shape) = kind.tensor_type().shape.as_ref() else {
            return Self::default();
        };
        let sizes = shape.dim.iter().map(|dim| {
            let size = dim.has_dim_value().then(|| dim.dim_value())?;
            usize::try_from(size).ok()
        });
        Self::of_dims(sizes.collect())
    }

    /// All sizes, if they are known.
    pub fn sizes(&self) -> Option<Vec<usize>> {
        self.dims.as_ref()?.iter().copied().collect()
    }

    /// The rank, if it is known.
    pub fn rank(&self) -> Option<usize> {
        Some(self.dims.as_ref()?.len())
    }
}
