//! `OneHot`.

use crate::prepare::fold::dims::{self, Dims};
use crate::prepare::fold::inputs::Inputs;
use crate::prepare::fold::symbols::{MAXIMUM_SYMBOLS, Symbols};
use crate::read::node::NodeAttributes;

pub(super) fn shape(inputs: &Inputs) -> Option<Dims> {
    let mut dims = inputs.dims(0)?.clone();
    let at = dims::axis(inputs.node.int("axis", -1), dims.len() + 1)?;
    let depth = inputs.elements(1).and_then(|depth| depth.first().copied().flatten());
    dims.insert(at, depth.and_then(|depth| usize::try_from(depth).ok()));
    Some(dims)
}

/// Of constant indices along the last axis. torch writes one to repeat batch indices.
pub(super) fn symbols(inputs: &Inputs) -> Option<Symbols> {
    let (indices, depth, values) = (inputs.value(0)?, inputs.integers(1)?, inputs.symbols(2)?);
    let (&[depth], [off, on]) = (&depth[..], &values.elements[..]) else {
        return None;
    };
    let fits = (1..=MAXIMUM_SYMBOLS as i64).contains(&depth) && indices.data.len() <= MAXIMUM_SYMBOLS;
    (fits && inputs.node.int("axis", -1) == -1).then_some(())?;
    // Negative indices count from the end.
    let of_index = |index: i64| (0..depth).map(move |at| if [at, at - depth].contains(&index) { on } else { off });
    let elements = indices.integers()?.into_iter().flat_map(of_index).cloned().collect();
    let dims = indices.dims.iter().copied().chain([depth as usize]).collect();
    Symbols::new(dims, elements, values.element)
}
