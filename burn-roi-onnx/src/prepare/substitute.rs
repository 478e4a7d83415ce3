//! Puts nodes that burn-onnx takes in the place of those that it does not, or that fail at run time.

use std::collections::HashMap;

use onnx_ir::{GraphProto, NodeProto};

use super::read::is_default;
use crate::expand;
use crate::operators::DOMAIN;

/// `Expand` to a size of 0 panics in Burn. A pyramid level without regions asks for it.
pub(super) fn expansions(graph: &mut GraphProto) {
    for node in graph.node.iter_mut().filter(|node| is(node, "Expand")) {
        node.domain = DOMAIN.to_string();
        node.op_type = expand::NAME.to_string();
    }
}

/// `Min` and `Max` of a tensor and a number panic in burn-onnx, so a number becomes a tensor of one element.
pub(super) fn numbers_in_extremes(graph: &mut GraphProto) {
    let numbers: HashMap<String, usize> = graph
        .initializer
        .iter()
        .enumerate()
        .filter(|(_, tensor)| tensor.dims.is_empty())
        .map(|(at, tensor)| (tensor.name.clone(), at))
        .collect();
    let mut rows = Vec::new();
    for node in graph.node.iter_mut().filter(|node| is(node, "Min") || is(node, "Max")) {
        for input in &mut node.input {
            if let Some(&at) = numbers.get(input) {
                let mut row = graph.initializer[at].clone();
                row.dims = vec![1];
                row.name = format!("{input}_row{}", rows.len());
                input.clone_from(&row.name);
                rows.push(row);
            }
        }
    }
    graph.initializer.append(&mut rows);
}

/// Whether a node is a standard operator of a name.
pub(super) fn is(node: &NodeProto, name: &str) -> bool {
    node.op_type == name && is_default(&node.domain)
}
