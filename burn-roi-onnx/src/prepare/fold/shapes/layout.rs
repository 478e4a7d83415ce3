//! The sizes of the outputs of operators that move elements.

use crate::prepare::fold::inputs::Inputs;
use crate::prepare::fold::known::Dims;
use crate::prepare::fold::{dims, slice};
use crate::read::node::NodeAttributes;
use crate::read::tensor::{MAXIMUM_RANK, sizes_of};

/// The sizes of the output.
pub(super) fn of_output(inputs: &Inputs) -> Option<Dims> {
    match inputs.node.op_type.as_str() {
        "Reshape" => reshape(inputs),
        "Flatten" => flatten(inputs),
        "Squeeze" => squeeze(inputs),
        "Unsqueeze" => dims::unsqueezed(inputs.dims(0)?, &inputs.axes()?, Some(1)),
        "Transpose" => transpose(inputs),
        "Expand" | "ConstantOfShape" => requested(inputs),
        "Concat" => concat(inputs),
        "Slice" => slice(inputs),
        "Gather" => gather(inputs),
        "GatherElements" => inputs.dims(1).cloned(),
        "GatherND" => gather_nd(inputs),
        "OneHot" => one_hot(inputs),
        "Tile" => tile(inputs),
        "Resize" => resize(inputs),
        "Pad" => pad(inputs),
        _ => None,
    }
}

fn reshape(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0);
    if let (Some(sizes), Some(requested)) = (inputs.sizes(0), inputs.integers(1)) {
        let allow_zero = inputs.node.int("allowzero", 0) != 0;
        let sizes = dims::reshaped(&sizes, &requested, allow_zero)?;
        return Some(sizes.into_iter().map(Some).collect());
    }
    let requested = match inputs.elements(1) {
        Some(requested) => requested,
        None => unknown(inputs, 1)?,
    };
    let size = |(at, size): (usize, &Option<i64>)| match size {
        Some(0) if inputs.node.int("allowzero", 0) == 0 => dims?.get(at).copied().flatten(),
        Some(size) => usize::try_from(*size).ok(),
        None => None,
    };
    Some(requested.iter().enumerate().map(size).collect())
}

/// As many unknown sizes as an input has elements. A malformed model can declare any number.
fn unknown<T: Clone>(inputs: &Inputs, at: usize) -> Option<Vec<Option<T>>> {
    let rank = inputs.dims(at)?.first().copied().flatten()?;
    (rank <= MAXIMUM_RANK).then(|| vec![None; rank])
}

fn flatten(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?;
    let at = dims::flatten_axis(inputs.node, dims.len())?;
    let product = |dims: &[Option<usize>]| dims.iter().try_fold(1usize, |all, &size| all.checked_mul(size?));
    Some(vec![product(&dims[..at]), product(&dims[at..])])
}

fn squeeze(inputs: &Inputs) -> Option<Dims> {
    let axes = inputs.axes();
    // Without axes, the sizes of 1 decide, so that all must be known.
    let known = axes.is_some() || (!inputs.has(1) && inputs.sizes(0).is_some());
    known
        .then(|| dims::squeezed(inputs.dims(0)?, axes.as_deref(), Some(1)))
        .flatten()
}

fn transpose(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?;
    let order = dims::permutation(dims.len(), inputs.node)?;
    Some(order.into_iter().map(|at| dims[at]).collect())
}

/// The output's sizes of `Expand` and `ConstantOfShape`.
fn requested(inputs: &Inputs) -> Option<Dims> {
    let at = usize::from(inputs.node.op_type == "Expand");
    let sizes = match inputs.elements(at) {
        Some(sizes) => sizes.iter().map(|size| usize::try_from((*size)?).ok()).collect(),
        None => unknown(inputs, at)?,
    };
    if at == 0 {
        return Some(sizes);
    }
    // An unknown requested size may be 1, so that the input's size decides.
    let dims = inputs.dims(0)?;
    let rank = sizes.len().max(dims.len());
    let size = |at: usize| match (dims::padded(dims, at, rank), dims::padded(&sizes, at, rank)) {
        (Some(1), size) => size,
        (Some(size), _) => Some(size),
        (None, Some(size)) if size != 1 => Some(size),
        (None, _) => None,
    };
    Some((0..rank).map(size).collect())
}

fn concat(inputs: &Inputs) -> Option<Dims> {
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

fn slice(inputs: &Inputs) -> Option<Dims> {
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
                inputs.integers(3)?
            } else {
                (0..dims.len() as i64).collect()
            };
            for at in axes {
                let at = dims::axis(at, dims.len())?;
                dims[at] = None;
            }
        }
    }
    Some(dims)
}

fn gather(inputs: &Inputs) -> Option<Dims> {
    let mut dims = inputs.dims(0)?.clone();
    let at = dims::axis(inputs.node.int("axis", 0), dims.len())?;
    dims.splice(at..=at, inputs.dims(1)?.iter().copied());
    Some(dims)
}

fn gather_nd(inputs: &Inputs) -> Option<Dims> {
    let (&tuple, rows) = inputs.dims(1)?.split_last()?;
    let batch = usize::try_from(inputs.node.int("batch_dims", 0)).ok()?;
    let rest = inputs.dims(0)?.get(batch.checked_add(tuple?)?..)?;
    Some(rows.iter().chain(rest).copied().collect())
}

fn one_hot(inputs: &Inputs) -> Option<Dims> {
    let mut dims = inputs.dims(0)?.clone();
    let at = dims::axis(inputs.node.int("axis", -1), dims.len() + 1)?;
    let depth = inputs.elements(1).and_then(|depth| depth.first().copied().flatten());
    dims.insert(at, depth.and_then(|depth| usize::try_from(depth).ok()));
    Some(dims)
}

fn tile(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?;
    let repeats = inputs.elements(1).filter(|repeats| repeats.len() == dims.len());
    let size = |at: usize| dims[at]?.checked_mul(usize::try_from(repeats.as_ref()?[at]?).ok()?);
    Some((0..dims.len()).map(size).collect())
}

fn resize(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?;
    if let Some(sizes) = inputs.elements(3).filter(|sizes| sizes.len() == dims.len()) {
        return Some(sizes.iter().map(|size| usize::try_from((*size)?).ok()).collect());
    }
    Some(vec![None; dims.len()])
}

fn pad(inputs: &Inputs) -> Option<Dims> {
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

/// The axis that `Split` divides, and the sizes of the parts.
pub(crate) fn split_sizes(inputs: &Inputs) -> Option<(usize, Vec<usize>)> {
    let dims = inputs.dims(0)?;
    let node = inputs.node;
    let at = dims::axis(node.int("axis", 0), dims.len())?;
    let given = match node.ints("split") {
        Some(sizes) => Some(sizes.to_vec()),
        None if inputs.has(1) => Some(inputs.integers(1)?),
        None => None,
    };
    let sizes = match given {
        Some(sizes) => sizes_of(&sizes)?,
        None => {
            let (size, parts) = (dims[at]?, node.output.len());
            let part = size.div_ceil(parts.max(1));
            (0..parts).map(|at| part.min(size.saturating_sub(at * part))).collect()
        }
    };
    (sizes.len() == node.output.len()).then_some((at, sizes))
}

pub(super) fn split(inputs: &Inputs) -> Option<Vec<Option<Dims>>> {
    let dims = inputs.dims(0)?;
    let (at, sizes) = split_sizes(inputs)?;
    let part = |size| {
        let mut dims = dims.clone();
        dims[at] = Some(size);
        Some(dims)
    };
    Some(sizes.into_iter().map(part).collect())
}
