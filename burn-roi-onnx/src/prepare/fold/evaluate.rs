//! What is known of the outputs of a node, from what is known of its inputs.

use super::inputs::Inputs;
use super::known::Known;
use super::{constants, shapes, size_arithmetic};

/// What is known of each output.
pub(super) fn outputs(inputs: &Inputs) -> Vec<Known> {
    if let Some(tensors) = constants::of_outputs(inputs).filter(|tensors| tensors.len() == inputs.node.output.len()) {
        return tensors.into_iter().map(Known::of_tensor).collect();
    }
    let mut all: Vec<_> = shapes::of_outputs(inputs)
        .into_iter()
        .map(|dims| dims.map_or_else(Known::default, Known::of_dims))
        .collect();
    let computed = size_arithmetic::of_outputs(inputs).unwrap_or_default();
    for (output, symbols) in all.iter_mut().zip(computed) {
        *output = Known::of_symbols(symbols);
    }
    all
}
