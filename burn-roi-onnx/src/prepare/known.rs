//! What is known of a value before the model runs.

use std::collections::HashMap;
use std::rc::Rc;

use onnx_ir::{TensorProto, ValueInfoProto};

use super::tensor::Tensor;

/// The sizes of a tensor; `None` for a size that is not known.
pub(super) type Dims = Vec<Option<usize>>;

/// What is known of a value.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// The sizes, if the rank is known.
    pub dims: Option<Dims>,
    /// The value itself.
    pub value: Option<Rc<Tensor>>,
    /// Of a value of integers of rank 0 or 1, the elements that are known.
    pub elements: Option<Vec<Option<i64>>>,
}

/// What is known of each value, by its name.
pub(super) type Scope = HashMap<String, Known>;

impl Known {
    pub fn of_dims(dims: Dims) -> Self {
        Self {
            dims: Some(dims),
            ..Self::default()
        }
    }

    pub fn of_tensor(tensor: Tensor) -> Self {
        let elements = (tensor.dims.len() < 2 && tensor.data.len() <= 64)
            .then(|| tensor.integers())
            .flatten();
        Self {
            dims: Some(tensor.dims.iter().copied().map(Some).collect()),
            elements: elements.map(|elements| elements.into_iter().map(Some).collect()),
            value: Some(Rc::new(tensor)),
        }
    }

    /// Integers of rank 0 or 1, of which some are known. Where all are, this is their value.
    pub fn of_elements(rank: usize, elements: Vec<Option<i64>>) -> Self {
        let all: Option<Vec<i64>> = elements.iter().copied().collect();
        match (all.as_deref(), rank) {
            (Some(&[value]), 0) => Self::of_tensor(Tensor::of_integer(value)),
            (Some(values), 1) => Self::of_tensor(Tensor::of_integers(values.to_vec())),
            _ => Self {
                dims: Some(if rank == 0 {
                    Vec::new()
                } else {
                    vec![Some(elements.len())]
                }),
                value: None,
                elements: Some(elements),
            },
        }
    }

    /// What an initializer says.
    pub fn of_initializer(proto: &TensorProto) -> Self {
        match Tensor::of(proto) {
            Some(tensor) => Self::of_tensor(tensor),
            None => Self::of_dims(proto.dims.iter().map(|&size| usize::try_from(size).ok()).collect()),
        }
    }

    /// What the declared type of a value says.
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
