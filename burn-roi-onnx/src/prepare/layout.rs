//! Operators that move the elements of a constant: computed on the elements' indices, for every element type at once.

use ndarray::{ArrayD, Axis, IxDyn, Slice};

use super::attribute::Of;
use super::tensor::{MAXIMUM_RANK, Tensor, count};
use onnx_ir::NodeProto;

/// The elements' indices of a tensor of these sizes.
fn indices(dims: &[usize]) -> Option<ArrayD<usize>> {
    ArrayD::from_shape_vec(IxDyn(dims), (0..count(dims)?).collect()).ok()
}

/// The elements of a tensor at an array of indices.
fn take(tensor: &Tensor, indices: &ArrayD<usize>) -> Option<Tensor> {
    let order: Vec<_> = indices.iter().copied().collect();
    tensor.take(indices.shape().to_vec(), &order)
}

/// An axis of a tensor of so many, which may count from the end.
pub(super) fn axis(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let axis = if axis < 0 { axis.checked_add(rank)? } else { axis };
    (0..rank).contains(&axis).then_some(axis as usize)
}

/// The sizes that `Reshape` gives a tensor of `dims`.
pub(super) fn reshaped(dims: &[usize], requested: &[i64], allow_zero: bool) -> Option<Vec<usize>> {
    (requested.len() <= MAXIMUM_RANK).then_some(())?;
    let mut unknown = None;
    let mut sizes = Vec::with_capacity(requested.len());
    for (at, &size) in requested.iter().enumerate() {
        sizes.push(match size {
            -1 if unknown.is_none() => {
                unknown = Some(at);
                1
            }
            0 if !allow_zero => *dims.get(at)?,
            size => usize::try_from(size).ok()?,
        });
    }
    let (elements, known) = (count(dims)?, count(&sizes)?);
    if let Some(at) = unknown {
        (known != 0 && elements % known == 0).then_some(())?;
        sizes[at] = elements / known;
    }
    (count(&sizes)? == elements).then_some(sizes)
}

pub(super) fn reshape(tensor: &Tensor, sizes: &[i64], node: &NodeProto) -> Option<Tensor> {
    let dims = reshaped(&tensor.dims, sizes, node.int("allowzero", 0) != 0)?;
    Tensor::new(dims, tensor.data.clone())
}

pub(super) fn flatten(tensor: &Tensor, node: &NodeProto) -> Option<Tensor> {
    let rank = tensor.dims.len();
    let at = node.int("axis", 1);
    let at = if at == rank as i64 { rank } else { axis(at, rank)? };
    let dims = vec![count(&tensor.dims[..at])?, count(&tensor.dims[at..])?];
    Tensor::new(dims, tensor.data.clone())
}

/// `dims` without the `axes`, or without those of size 1.
pub(super) fn squeezed<T: Copy + PartialEq>(dims: &[T], axes: Option<&[i64]>, one: T) -> Option<Vec<T>> {
    let axes = match axes {
        Some(axes) => axes
            .iter()
            .map(|&at| axis(at, dims.len()))
            .collect::<Option<Vec<_>>>()?,
        None => (0..dims.len()).filter(|&at| dims[at] == one).collect(),
    };
    let kept = (0..dims.len()).filter(|at| !axes.contains(at));
    Some(kept.map(|at| dims[at]).collect())
}

/// `dims` with an axis of size `one` at each of the `axes` of the result.
pub(super) fn unsqueezed<T: Copy>(dims: &[T], axes: &[i64], one: T) -> Option<Vec<T>> {
    let rank = dims.len() + axes.len();
    (rank <= MAXIMUM_RANK).then_some(())?;
    let axes: Vec<_> = axes.iter().map(|&at| axis(at, rank)).collect::<Option<_>>()?;
    let mut rest = dims.iter().copied();
    let sizes: Vec<T> = (0..rank)
        .map_while(|at| if axes.contains(&at) { Some(one) } else { rest.next() })
        .collect();
    (sizes.len() == rank && rest.next().is_none()).then_some(sizes)
}

pub(super) fn transpose(tensor: &Tensor, node: &NodeProto) -> Option<Tensor> {
    let order = permutation(tensor.dims.len(), node)?;
    take(tensor, &indices(&tensor.dims)?.permuted_axes(IxDyn(&order)))
}

/// The order in which `Transpose` takes the axes.
pub(super) fn permutation(rank: usize, node: &NodeProto) -> Option<Vec<usize>> {
    let order: Vec<usize> = match node.ints("perm") {
        None => (0..rank).rev().collect(),
        Some(order) => order.iter().map(|&at| axis(at, rank)).collect::<Option<_>>()?,
    };
    let mut sorted = order.clone();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..rank).then_some(order)
}

pub(super) fn expand(tensor: &Tensor, sizes: &[i64]) -> Option<Tensor> {
    let sizes: Vec<_> = sizes
        .iter()
        .map(|&size| usize::try_from(size).ok())
        .collect::<Option<_>>()?;
    let dims = broadcast(&tensor.dims, &sizes)?;
    count(&dims)?;
    let view = indices(&tensor.dims)?;
    let order: Vec<_> = view.broadcast(IxDyn(&dims))?.iter().copied().collect();
    tensor.take(dims, &order)
}

/// The sizes of two tensors that are computed with element by element.
pub(super) fn broadcast(first: &[usize], second: &[usize]) -> Option<Vec<usize>> {
    let rank = first.len().max(second.len());
    let size = |dims: &[usize], at: usize| (at + dims.len()).checked_sub(rank).map_or(1, |at| dims[at]);
    let sizes = (0..rank).map(|at| match (size(first, at), size(second, at)) {
        (1, size) | (size, 1) => Some(size),
        (first, second) => (first == second).then_some(first),
    });
    sizes.collect()
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

/// The part of an axis that `Slice` takes: its first element, how many, and the step.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub axis: usize,
    start: i64,
    end: i64,
    step: i64,
}

impl Part {
    /// How many elements of an axis of `size` it takes.
    pub fn len(self, size: usize) -> Option<usize> {
        let (start, end) = self.bounds(size)?;
        let span = if self.step > 0 { end - start } else { start - end };
        usize::try_from(u64::try_from(span.max(0)).ok()?.div_ceil(self.step.unsigned_abs())).ok()
    }

    /// The elements of an axis of `size` that it takes.
    fn elements(self, size: usize) -> Option<Vec<usize>> {
        let (start, _) = self.bounds(size)?;
        let at = |step: usize| usize::try_from(start.checked_add(self.step.checked_mul(step as i64)?)?).ok();
        (0..self.len(size)?).map(at).collect()
    }

    /// The first element, and the one at which it stops.
    fn bounds(self, size: usize) -> Option<(i64, i64)> {
        let size = i64::try_from(size).ok()?;
        let at = |at: i64| if at < 0 { at.saturating_add(size) } else { at };
        match self.step {
            1.. => Some((at(self.start).clamp(0, size), at(self.end).clamp(0, size))),
            0 => None,
            _ => Some((at(self.start).clamp(-1, size - 1), at(self.end).clamp(-1, size - 1))),
        }
    }
}

/// The parts that a `Slice` of constant bounds takes of a tensor of a rank.
pub(super) fn parts(node: &NodeProto, inputs: &[Option<&Tensor>], rank: usize) -> Option<Vec<Part>> {
    let input = |at: usize| inputs.get(at).copied().flatten().and_then(Tensor::integers);
    let given = |at: usize| node.input.get(at).is_some_and(|name| !name.is_empty());
    let (starts, ends) = match node.ints("starts") {
        Some(starts) => (starts.to_vec(), node.ints("ends")?.to_vec()),
        None => (input(1)?, input(2)?),
    };
    let axes = match node.ints("axes") {
        Some(axes) => axes.to_vec(),
        None if given(3) => input(3)?,
        None => (0..starts.len() as i64).collect(),
    };
    let steps = if given(4) { input(4)? } else { vec![1; starts.len()] };
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return None;
    }
    let part = |at: usize| {
        Some(Part {
            axis: axis(axes[at], rank)?,
            start: starts[at],
            end: ends[at],
            step: steps[at],
        })
    };
    (0..starts.len()).map(part).collect()
}

pub(super) fn slice(tensor: &Tensor, parts: &[Part]) -> Option<Tensor> {
    let mut view = indices(&tensor.dims)?;
    for part in parts {
        let elements = part.elements(view.shape()[part.axis])?;
        view = view.select(Axis(part.axis), &elements);
    }
    take(tensor, &view)
}

pub(super) fn concat(tensors: &[&Tensor], node: &NodeProto) -> Option<Tensor> {
    let (first, others) = tensors.split_first()?;
    let at = Axis(axis(node.int("axis", 1), first.dims.len())?);
    let mut all = (*first).clone();
    all.dims = vec![all.data.len()];
    let mut views = vec![indices(&first.dims)?];
    for tensor in others {
        // ndarray panics where the ranks differ.
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
