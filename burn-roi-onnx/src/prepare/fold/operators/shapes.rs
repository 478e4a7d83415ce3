//! The sizes of the outputs of operators that are not computed before the model runs.

use crate::prepare::fold::dims::{self, Dims};
use crate::prepare::fold::inputs::Inputs;
use crate::read::node::NodeAttributes;
use crate::read::tensor::MAXIMUM_RANK;

/// The sizes of the first input.
pub(super) fn first(inputs: &Inputs) -> Option<Dims> {
    inputs.dims(0).cloned()
}

/// The sizes of all inputs, which are broadcast.
pub(super) fn broadcast(inputs: &Inputs) -> Option<Dims> {
    let mut all = (0..inputs.known.len()).map(|at| inputs.dims(at));
    all.try_fold(Vec::new(), |dims, other| dims::broadcast(&dims, other?))
}

/// The sizes that an input lists.
pub(super) fn requested(inputs: &Inputs, at: usize) -> Option<Dims> {
    match inputs.elements(at) {
        Some(sizes) => Some(sizes.iter().map(|size| usize::try_from((*size)?).ok()).collect()),
        None => unknown_sizes(inputs, at),
    }
}

/// As many unknown sizes as an input has elements. A malformed model can declare any number.
pub(super) fn unknown_sizes<T: Clone>(inputs: &Inputs, at: usize) -> Option<Vec<Option<T>>> {
    let rank = inputs.dims(at)?.first().copied().flatten()?;
    (rank <= MAXIMUM_RANK).then(|| vec![None; rank])
}

pub(super) fn gemm(inputs: &Inputs) -> Option<Dims> {
    let size = |at: usize, transposed: &str, first: bool| {
        let dims = inputs.dims(at)?;
        let at = usize::from((inputs.node.int(transposed, 0) != 0) == first);
        dims.get(at).copied()
    };
    Some(vec![size(0, "transA", true)?, size(1, "transB", false)?])
}

pub(super) fn matrix_product(inputs: &Inputs) -> Option<Dims> {
    let (first, second) = (inputs.dims(0)?, inputs.dims(1)?);
    let (Some((columns, leading)), 2) = (second.get(1).zip(first.split_last()), second.len()) else {
        return None;
    };
    Some(leading.1.iter().copied().chain([*columns]).collect())
}

pub(super) fn roi_align(inputs: &Inputs) -> Option<Dims> {
    let size = |name| usize::try_from(inputs.node.int(name, 1)).ok();
    let channels = inputs.dims(0)?.get(1).copied().flatten();
    let regions = inputs.dims(1)?.first().copied().flatten();
    Some(vec![regions, channels, size("output_height"), size("output_width")])
}

pub(super) fn top_k(inputs: &Inputs) -> Option<Dims> {
    let mut dims = inputs.dims(0)?.clone();
    let at = dims::axis(inputs.node.int("axis", -1), dims.len())?;
    dims[at] = match inputs.node.attribute("k") {
        Some(k) => usize::try_from(k.i).ok(),
        None => inputs
            .elements(1)
            .and_then(|k| usize::try_from(k.first().copied().flatten()?).ok()),
    };
    Some(dims)
}

pub(super) fn gather_nd(inputs: &Inputs) -> Option<Dims> {
    let (&tuple, rows) = inputs.dims(1)?.split_last()?;
    let batch = usize::try_from(inputs.node.int("batch_dims", 0)).ok()?;
    let rest = inputs.dims(0)?.get(batch.checked_add(tuple?)?..)?;
    Some(rows.iter().chain(rest).copied().collect())
}

pub(super) fn tile(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?;
    let repeats = inputs.elements(1).filter(|repeats| repeats.len() == dims.len());
    let size = |at: usize| dims[at]?.checked_mul(usize::try_from(repeats.as_ref()?[at]?).ok()?);
    Some((0..dims.len()).map(size).collect())
}

pub(super) fn resize(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?;
    if let Some(sizes) = inputs.elements(3).filter(|sizes| sizes.len() == dims.len()) {
        return Some(sizes.iter().map(|size| usize::try_from((*size)?).ok()).collect());
    }
    Some(vec![None; dims.len()])
}

pub(super) fn pad(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?;
    let unknown = || Some(vec![None; dims.len()]);
    if inputs.has(3) {
        return unknown();
    }
    let pads = match inputs.node.ints("pads") {
        Some(pads) => Some(pads.iter().copied().map(Some).collect()),
        None => inputs.elements(1),
    };
    let Some(pads) = pads.filter(|pads| pads.len() == 2 * dims.len()) else {
        return unknown();
    };
    let size = |at: usize| {
        let size = i64::try_from(dims[at]?).ok()?;
        usize::try_from(size.checked_add(pads[at]?)?.checked_add(pads[at + dims.len()]?)?).ok()
    };
    Some((0..dims.len()).map(size).collect())
}
