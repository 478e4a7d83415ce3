//! Operators that move the elements of a constant. They move indices, so that one code serves all element types.

use ndarray::{ArrayD, Axis, IxDyn, Slice};
use onnx_ir::NodeProto;

use crate::prepare::fold::dims::{axis, broadcast_sizes, flatten_axis, permutation, reshaped};
use crate::prepare::fold::slice::Part;
use crate::read::node::NodeAttributes;
use crate::read::tensor::{Tensor, count, sizes_of};

/// The indices of the elements of a tensor.
fn indices(dims: &[usize]) -> Option<ArrayD<usize>> {
    ArrayD::from_shape_vec(IxDyn(dims), (0..count(dims)?).collect()).ok()
}

/// The tensor of the elements at an array of indices.
fn take(tensor: &Tensor, indices: &ArrayD<usize>) -> Option<Tensor> {
    let order: Vec<_> = indices.iter().copied().collect();
    tensor.take(indices.shape().to_vec(), &order)
}

pub(super) fn reshape(tensor: &Tensor, sizes: &[i64], node: &NodeProto) -> Option<Tensor> {
    let dims = reshaped(&tensor.dims, sizes, node.int("allowzero", 0) != 0)?;
    Tensor::new(dims, tensor.data.clone())
}

pub(super) fn flatten(tensor: &Tensor, node: &NodeProto) -> Option<Tensor> {
    let at = flatten_axis(node, tensor.dims.len())?;
    let dims = vec![count(&tensor.dims[..at])?, count(&tensor.dims[at..])?];
    Tensor::new(dims, tensor.data.clone())
}

pub(super) fn transpose(tensor: &Tensor, node: &NodeProto) -> Option<Tensor> {
    let order = permutation(tensor.dims.len(), node)?;
    take(tensor, &indices(&tensor.dims)?.permuted_axes(IxDyn(&order)))
}

pub(crate) fn expand(tensor: &Tensor, sizes: &[i64]) -> Option<Tensor> {
    let dims = broadcast_sizes(&tensor.dims, &sizes_of(sizes)?)?;
    count(&dims)?;
    let view = indices(&tensor.dims)?;
    let order: Vec<_> = view.broadcast(IxDyn(&dims))?.iter().copied().collect();
    tensor.take(dims, &order)
}

pub(super) fn gather(tensor: &Tensor, index: &Tensor, node: &NodeProto) -> Option<Tensor> {
    let at = axis(node.int("axis", 0), tensor.dims.len())?;
    let size = tensor.dims[at];
    let chosen = index
        .integers()?
        .into_iter()
        .map(|index| axis(index, size))
        .collect::<Option<Vec<_>>>()?;
    let mut dims = tensor.dims.clone();
    dims.splice(at..=at, index.dims.iter().copied());
    count(&dims)?;
    let selected = indices(&tensor.dims)?.select(Axis(at), &chosen);
    let order: Vec<_> = selected.iter().copied().collect();
    tensor.take(dims, &order)
}

pub(super) fn slice(tensor: &Tensor, parts: &[Part]) -> Option<Tensor> {
    let mut view = indices(&tensor.dims)?;
    for part in parts {
        let elements = part.elements(view.shape()[part.axis])?;
        view = view.select(Axis(part.axis), &elements);
    }
    take(tensor, &view)
}

pub(crate) fn concat(tensors: &[&Tensor], node: &NodeProto) -> Option<Tensor> {
    let (first, others) = tensors.split_first()?;
    let at = Axis(axis(node.int("axis", 1), first.dims.len())?);
    let mut all = (*first).clone();
    all.dims = vec![all.data.len()];
    let mut views = vec![indices(&first.dims)?];
    for tensor in others {
        // ndarray panics if ranks differ.
        (tensor.dims.len() == first.dims.len()).then_some(())?;
        let offset = all.data.len();
        views.push(indices(&tensor.dims)? + offset);
        all = all.joined(tensor)?;
    }
    let views: Vec<_> = views.iter().map(|view| view.view()).collect();
    take(&all, &ndarray::concatenate(at, &views).ok()?)
}

pub(super) fn split(tensor: &Tensor, at: usize, sizes: &[usize]) -> Option<Vec<Tensor>> {
    let view = indices(&tensor.dims)?;
    let mut start = 0usize;
    let mut part = |&size: &usize| {
        let end = start.checked_add(size)?;
        let range = Slice::from(start..end);
        start = end;
        (end <= tensor.dims[at])
            .then(|| take(tensor, &view.slice_axis(Axis(at), range).to_owned()))
            .flatten()
    };
    sizes.iter().map(&mut part).collect()
}
