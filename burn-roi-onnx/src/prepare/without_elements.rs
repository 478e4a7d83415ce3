//! Moves operators to the operator set of this crate whose functions in Burn refuse tensors without elements. A picture
//! without objects has such tensors.

use std::collections::HashMap;

use onnx_ir::{GraphProto, NodeProto};

use super::fold::{Known, Scope};
use super::nodes::{float, int, ints};
use super::region_operators::move_to;
use crate::operators::attributes::from_first;
use crate::operators::own::{AXES, indexing};
use crate::read::node::{NodeAttributes, is};
use crate::read::opset::DOMAIN;

/// Moves the nodes whose inputs may have no elements.
pub(super) fn to_own(graph: &mut GraphProto, known: &Scope) {
    let declared: HashMap<&str, Known> = graph
        .value_info
        .iter()
        .map(|value| (&*value.name, Known::of_type(value)))
        .collect();
    let dims = |node: &NodeProto, at: usize| {
        let name = node.input.get(at)?;
        let of = |known: Option<&Known>| known.and_then(|known| known.dims.clone());
        of(known.get(name)).or_else(|| of(declared.get(name.as_str())))
    };
    for node in &mut graph.node {
        let Some(given) = dims(node, 0).filter(|given| !given.is_empty()) else {
            continue;
        };
        let has_elements = given.iter().all(|size| size.is_some_and(|size| size > 0));
        match node.op_type.as_str() {
            "Unsqueeze" | "Squeeze" | "ReduceMax" | "ReduceMin" if is(node, &node.op_type) && !has_elements => {
                along_axes(node, given.len(), known);
            }
            "GatherND" | "ScatterND" if is(node, &node.op_type) => {
                if let Some(indices) = dims(node, 1) {
                    at_indices(node, given.len(), &indices);
                }
            }
            _ => {}
        }
    }
}

/// Moves a node that removes axes, adds them or reduces them. Its axes become an attribute, counted from the first.
fn along_axes(node: &mut NodeProto, rank: usize, known: &Scope) {
    let given = match (node.ints("axes"), node.input.get(1).filter(|name| !name.is_empty())) {
        (Some(axes), _) => Some(axes.to_vec()),
        (None, Some(name)) => match known.get(name).and_then(|known| known.value.as_ref()?.integers()) {
            Some(axes) => Some(axes),
            None => return,
        },
        (None, None) => None,
    };
    let reduces = node.op_type.starts_with("Reduce");
    let axes = match given {
        Some(axes) if !axes.is_empty() => axes,
        _ if reduces && node.int("noop_with_empty_axes", 0) == 0 => (0..rank as i64).collect(),
        _ => return,
    };
    let rank_of_axes = if node.op_type == "Unsqueeze" {
        rank + axes.len()
    } else {
        rank
    };
    let axes: Vec<i64> = axes.into_iter().map(|axis| from_first(axis, rank_of_axes)).collect();
    let fits = axes.iter().all(|axis| (0..rank_of_axes as i64).contains(axis));
    // A scalar without axes to keep stays burn-onnx's, unless it is reduced.
    if !fits || (node.op_type == "Squeeze" && axes.len() >= rank) {
        return;
    }
    node.attribute.retain(|attribute| attribute.name == "keepdims");
    node.attribute.push(ints(AXES, axes));
    node.input.truncate(1);
    move_to(node, DOMAIN);
}

/// Moves a node with index tuples, if their length is known.
fn at_indices(node: &mut NodeProto, rank: usize, indices: &[Option<usize>]) {
    if node.op_type == "GatherND" {
        let Some(&Some(length)) = indices.last() else {
            return;
        };
        let batch_dims = usize::try_from(node.int("batch_dims", 0)).unwrap_or(usize::MAX);
        let left = (rank + indices.len()).checked_sub(1 + length);
        // burn-onnx gives scalars of their own type.
        if left
            .and_then(|left| left.checked_sub(batch_dims))
            .is_none_or(|rank| rank == 0)
        {
            return;
        }
        node.attribute.push(int(indexing::LENGTH, length as i64));
    }
    move_to(node, DOMAIN);
}

/// Gives each `BatchNormalization` without `epsilon` ONNX's default. burn-onnx takes 0, which Burn refuses.
pub(super) fn default_epsilon(graph: &mut GraphProto) {
    for node in &mut graph.node {
        if is(node, "BatchNormalization") && node.attribute("epsilon").is_none() {
            node.attribute.push(float("epsilon", 1e-5));
        }
    }
}
