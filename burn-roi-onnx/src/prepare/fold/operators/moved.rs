//! Operators that move the elements of their inputs.

use ndarray::{ArrayD, Axis};
use onnx_ir::NodeProto;

use super::{Shape, shapes};
use crate::prepare::fold::dims::{self, Dims};
use crate::prepare::fold::elements::{Elements, indices, take};
use crate::prepare::fold::inputs::Inputs;
use crate::prepare::fold::slice;
use crate::prepare::fold::symbols::Symbols;
use crate::read::node::NodeAttributes;
use crate::read::tensor::{MAXIMUM_RANK, Tensor, count};

/// Returns the indices of the output's elements in the input, from the indices of the input's elements and the output's
/// sizes.
pub(super) type Order = fn(&Inputs, ArrayD<usize>, &[usize]) -> Option<ArrayD<usize>>;

/// The elements of the first input in an order, or in their own.
pub(super) fn moved<T: Elements>(inputs: &Inputs, first: &T, shape: Shape, order: Option<Order>) -> Option<T> {
    let sizes: Vec<usize> = shape(inputs)?.into_iter().collect::<Option<_>>()?;
    count(&sizes)?;
    match order {
        None => first.with_sizes(sizes),
        Some(order) => take(first, &order(inputs, indices(first.sizes())?, &sizes)?, sizes),
    }
}

pub(super) fn reshape(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0);
    let allow_zero = inputs.node.int("allowzero", 0) != 0;
    if let (Some(sizes), Some(requested)) = (inputs.sizes(0), inputs.integers(1)) {
        let sizes = dims::reshaped(&sizes, &requested, allow_zero)?;
        return Some(sizes.into_iter().map(Some).collect());
    }
    let requested = match inputs.elements(1) {
        Some(requested) => requested,
        None => shapes::unknown_sizes(inputs, 1)?,
    };
    let size = |(at, size): (usize, &Option<i64>)| match size {
        Some(0) if !allow_zero => dims?.get(at).copied().flatten(),
        Some(size) => usize::try_from(*size).ok(),
        None => None,
    };
    Some(requested.iter().enumerate().map(size).collect())
}

pub(super) fn flatten(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?;
    let at = match inputs.node.int("axis", 1) {
        at if at == dims.len() as i64 => dims.len(),
        at => dims::axis(at, dims.len())?,
    };
    let product = |dims: &[Option<usize>]| dims.iter().try_fold(1usize, |all, &size| all.checked_mul(size?));
    Some(vec![product(&dims[..at]), product(&dims[at..])])
}

pub(super) fn squeeze(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?;
    let removed = match inputs.axes() {
        Some(axes) => dims::axes(&axes, dims.len())?,
        // Without axes, the sizes of 1 decide, so that all must be known.
        None if inputs.has(1) || dims.contains(&None) => return None,
        None => (0..dims.len()).filter(|&at| dims[at] == Some(1)).collect(),
    };
    let kept = (0..dims.len()).filter(|at| !removed.contains(at));
    Some(kept.map(|at| dims[at]).collect())
}

pub(super) fn unsqueeze(inputs: &Inputs) -> Option<Dims> {
    let (dims, axes) = (inputs.dims(0)?, inputs.axes()?);
    let rank = dims.len() + axes.len();
    (rank <= MAXIMUM_RANK).then_some(())?;
    // The axes count in the output.
    let axes = dims::axes(&axes, rank)?;
    let mut rest = dims.iter().copied();
    let sizes: Dims = (0..rank)
        .map_while(|at| if axes.contains(&at) { Some(Some(1)) } else { rest.next() })
        .collect();
    (sizes.len() == rank && rest.next().is_none()).then_some(sizes)
}

/// The order in which `Transpose` takes the axes.
fn permutation(node: &NodeProto, rank: usize) -> Option<Vec<usize>> {
    let order: Vec<usize> = match node.ints("perm") {
        None => (0..rank).rev().collect(),
        Some(order) => dims::axes(order, rank)?,
    };
    let mut sorted = order.clone();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..rank).then_some(order)
}

pub(super) fn transpose(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?;
    let order = permutation(inputs.node, dims.len())?;
    Some(order.into_iter().map(|at| dims[at]).collect())
}

pub(super) fn transposed(inputs: &Inputs, indices: ArrayD<usize>, _sizes: &[usize]) -> Option<ArrayD<usize>> {
    let order = permutation(inputs.node, indices.ndim())?;
    Some(indices.permuted_axes(order))
}

pub(super) fn expand(inputs: &Inputs) -> Option<Dims> {
    dims::broadcast(inputs.dims(0)?, &shapes::requested(inputs, 1)?)
}

pub(super) fn expanded(_inputs: &Inputs, indices: ArrayD<usize>, sizes: &[usize]) -> Option<ArrayD<usize>> {
    indices.broadcast(sizes).map(|all| all.to_owned())
}

pub(super) fn gather(inputs: &Inputs) -> Option<Dims> {
    let mut dims = inputs.dims(0)?.clone();
    let at = dims::axis(inputs.node.int("axis", 0), dims.len())?;
    dims.splice(at..=at, inputs.dims(1)?.iter().copied());
    Some(dims)
}

pub(super) fn gathered(inputs: &Inputs, indices: ArrayD<usize>, _sizes: &[usize]) -> Option<ArrayD<usize>> {
    let at = dims::axis(inputs.node.int("axis", 0), indices.ndim())?;
    let chosen = inputs
        .integers(1)?
        .into_iter()
        .map(|index| dims::axis(index, indices.shape()[at]));
    Some(indices.select(Axis(at), &chosen.collect::<Option<Vec<_>>>()?))
}

pub(super) fn slice(inputs: &Inputs) -> Option<Dims> {
    let mut dims = inputs.dims(0)?.clone();
    match slice::parts(inputs, dims.len()) {
        Some(parts) => {
            for part in parts {
                dims[part.axis] = dims[part.axis].and_then(|size| part.len(size));
            }
        }
        // With unknown bounds, the sizes of the sliced axes are unknown.
        None => {
            let axes = if inputs.has(3) {
                dims::axes(&inputs.integers(3)?, dims.len())?
            } else {
                (0..dims.len()).collect()
            };
            axes.into_iter().for_each(|at| dims[at] = None);
        }
    }
    Some(dims)
}

pub(super) fn sliced(inputs: &Inputs, indices: ArrayD<usize>, _sizes: &[usize]) -> Option<ArrayD<usize>> {
    let mut parts = slice::parts(inputs, indices.ndim())?.into_iter();
    parts.try_fold(indices, |indices, part| {
        let elements = part.elements(indices.shape()[part.axis])?;
        Some(indices.select(Axis(part.axis), &elements))
    })
}

pub(super) fn concat(inputs: &Inputs) -> Option<Dims> {
    let mut dims = inputs.dims(0)?.clone();
    let at = dims::axis(inputs.node.int("axis", 1), dims.len())?;
    for other in 1..inputs.known.len() {
        let other = inputs.dims(other)?;
        (other.len() == dims.len()).then_some(())?;
        for (axis, size) in dims.iter_mut().enumerate() {
            *size = match (axis == at, *size, other[axis]) {
                (true, Some(first), Some(second)) => first.checked_add(second),
                (true, _, _) => None,
                (false, first, second) => first.or(second),
            };
        }
    }
    Some(dims)
}

pub(super) fn joined_constants(inputs: &Inputs) -> Option<Tensor> {
    joined(&inputs.values()?, inputs.node)
}

pub(super) fn joined_symbols(inputs: &Inputs) -> Option<Symbols> {
    joined(&inputs.all_symbols()?, inputs.node)
}

fn joined<T: Elements>(tensors: &[&T], node: &NodeProto) -> Option<T> {
    let (first, others) = tensors.split_first()?;
    let at = Axis(dims::axis(node.int("axis", 1), first.sizes().len())?);
    let mut all = first.with_sizes(vec![first.sizes().iter().product()])?;
    let mut views = vec![indices(first.sizes())?];
    for tensor in others {
        // ndarray panics if ranks differ.
        (tensor.sizes().len() == first.sizes().len()).then_some(())?;
        let offset = all.sizes()[0];
        views.push(indices(tensor.sizes())? + offset);
        all = all.joined(tensor)?;
    }
    let views: Vec<_> = views.iter().map(|view| view.view()).collect();
    let indices = ndarray::concatenate(at, &views).ok()?;
    take(&all, &indices, indices.shape().to_vec())
}

/// The parts of a tensor that `Split` divides along an axis into parts of `sizes`.
pub(super) fn parts<T: Elements>(tensor: &T, at: usize, sizes: &[usize]) -> Option<Vec<T>> {
    let indices = indices(tensor.sizes())?;
    let mut start = 0usize;
    let mut part = |&size: &usize| {
        let end = start.checked_add(size).filter(|&end| end <= tensor.sizes()[at])?;
        let elements: Vec<_> = (start..end).collect();
        start = end;
        let indices = indices.select(Axis(at), &elements);
        take(tensor, &indices, indices.shape().to_vec())
    };
    sizes.iter().map(&mut part).collect()
}
