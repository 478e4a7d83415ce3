//! Tensors whose elements can be moved, by their indices in row-major order.

use ndarray::{ArrayD, IxDyn};

use crate::read::tensor::{Data, Tensor, count};

/// A constant, or a tensor of [expressions](super::symbols::Symbols).
pub(super) trait Elements: Clone {
    /// The sizes.
    fn sizes(&self) -> &[usize];
    /// The same elements in a tensor of other sizes.
    fn with_sizes(&self, sizes: Vec<usize>) -> Option<Self>;
    /// The elements at `indices`, in that order.
    fn take(&self, sizes: Vec<usize>, indices: &[usize]) -> Option<Self>;
    /// The elements of two tensors of one element type, as a tensor of rank 1.
    fn joined(&self, other: &Self) -> Option<Self>;
}

/// The indices of the elements of a tensor.
pub(super) fn indices(sizes: &[usize]) -> Option<ArrayD<usize>> {
    ArrayD::from_shape_vec(IxDyn(sizes), (0..count(sizes)?).collect()).ok()
}

/// The elements at an array of indices.
pub(super) fn take<T: Elements>(tensor: &T, indices: &ArrayD<usize>, sizes: Vec<usize>) -> Option<T> {
    tensor.take(sizes, &indices.iter().copied().collect::<Vec<_>>())
}

/// A tensor that is broadcast to `sizes`.
pub(super) fn expanded<T: Elements>(tensor: &T, sizes: &[usize]) -> Option<T> {
    count(sizes)?;
    let indices = indices(tensor.sizes())?;
    let order: Vec<_> = indices.broadcast(IxDyn(sizes))?.iter().copied().collect();
    tensor.take(sizes.to_vec(), &order)
}

impl Elements for Tensor {
    fn sizes(&self) -> &[usize] {
        &self.dims
    }

    fn with_sizes(&self, sizes: Vec<usize>) -> Option<Self> {
        Self::new(sizes, self.data.clone())
    }

    fn take(&self, sizes: Vec<usize>, indices: &[usize]) -> Option<Self> {
        fn at<T: Copy>(elements: &[T], indices: &[usize]) -> Option<Vec<T>> {
            indices.iter().map(|&index| elements.get(index).copied()).collect()
        }
        let data = match &self.data {
            Data::Float(elements) => Data::Float(at(elements, indices)?),
            Data::Double(elements) => Data::Double(at(elements, indices)?),
            Data::Int32(elements) => Data::Int32(at(elements, indices)?),
            Data::Int64(elements) => Data::Int64(at(elements, indices)?),
            Data::Bool(elements) => Data::Bool(at(elements, indices)?),
        };
        Self::new(sizes, data)
    }

    fn joined(&self, other: &Self) -> Option<Self> {
        let data = match (&self.data, &other.data) {
            (Data::Float(first), Data::Float(second)) => Data::Float([&first[..], second].concat()),
            (Data::Double(first), Data::Double(second)) => Data::Double([&first[..], second].concat()),
            (Data::Int32(first), Data::Int32(second)) => Data::Int32([&first[..], second].concat()),
            (Data::Int64(first), Data::Int64(second)) => Data::Int64([&first[..], second].concat()),
            (Data::Bool(first), Data::Bool(second)) => Data::Bool([&first[..], second].concat()),
            _ => return None,
        };
        Self::new(vec![data.len()], data)
    }
}
