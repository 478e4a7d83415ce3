//! `Split`.

use super::moved::parts;
use crate::prepare::fold::dims;
use crate::prepare::fold::inputs::Inputs;
use crate::prepare::fold::known::Known;
use crate::read::node::NodeAttributes;
use crate::read::tensor::sizes_of;

/// What is known of each output.
pub(super) fn outputs(inputs: &Inputs) -> Option<Vec<Known>> {
    let (at, sizes) = axis_and_sizes(inputs)?;
    if let Some(parts) = inputs.value(0).and_then(|tensor| parts(tensor, at, &sizes)) {
        return Some(parts.into_iter().map(Known::of_tensor).collect());
    }
    if let Some(parts) = inputs.symbols(0).and_then(|tensor| parts(tensor, at, &sizes)) {
        return Some(parts.into_iter().map(Known::of_symbols).collect());
    }
    let part = |size| {
        let mut dims = inputs.dims(0)?.clone();
        dims[at] = Some(size);
        Some(Known::of_dims(dims))
    };
    sizes.into_iter().map(part).collect()
}

/// The axis that is divided, and the sizes of the parts along it.
fn axis_and_sizes(inputs: &Inputs) -> Option<(usize, Vec<usize>)> {
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
