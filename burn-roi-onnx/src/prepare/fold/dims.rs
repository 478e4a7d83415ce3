//! Axes, and the sizes that operators compute from the sizes of their inputs.

use crate::read::tensor::{MAXIMUM_RANK, count};

/// The sizes of a tensor; `None` for an unknown size.
pub(crate) type Dims = Vec<Option<usize>>;

/// An axis of a tensor of rank `rank`. A negative one counts from the end.
pub(super) fn axis(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let axis = if axis < 0 { axis.checked_add(rank)? } else { axis };
    (0..rank).contains(&axis).then_some(axis as usize)
}

/// Several axes.
pub(super) fn axes(axes: &[i64], rank: usize) -> Option<Vec<usize>> {
    axes.iter().map(|&at| axis(at, rank)).collect()
}

/// The sizes of a reshaped tensor of sizes `dims`.
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

/// The sizes of two tensors that are broadcast.
pub(super) fn broadcast(first: &[Option<usize>], second: &[Option<usize>]) -> Option<Dims> {
    let rank = first.len().max(second.len());
    let sizes = (0..rank).map(|at| match (padded(first, at, rank), padded(second, at, rank)) {
        (Some(1), size) | (size, Some(1)) => Some(size),
        (Some(first), Some(second)) => (first == second).then_some(Some(first)),
        // An unknown size is 1 or equals the other.
        (Some(size), None) | (None, Some(size)) => Some(Some(size)),
        (None, None) => Some(None),
    });
    sizes.collect()
}

/// The same of known sizes.
pub(super) fn broadcast_sizes(first: &[usize], second: &[usize]) -> Option<Vec<usize>> {
    let dims = |sizes: &[usize]| sizes.iter().copied().map(Some).collect::<Dims>();
    broadcast(&dims(first), &dims(second))?.into_iter().collect()
}

/// The size along an axis of a tensor that is padded with leading axes of size 1 to rank `rank`.
pub(super) fn padded(dims: &[Option<usize>], at: usize, rank: usize) -> Option<usize> {
    (at + dims.len()).checked_sub(rank).map_or(Some(1), |at| dims[at])
}
