//! Puts nodes that burn-onnx takes in the place of those that it does not, or that fail at run time.

use std::collections::HashMap;

use onnx_ir::{GraphProto, NodeProto};

use super::attribute::Of;
use super::known::Scope;
use super::read::is_default;
use crate::expand;
use crate::operators::{DOMAIN, TENSOR};

/// The product of a tensor's sizes is `Size`. burn-onnx keeps sizes as an array, which it does not reduce; torchvision's
/// NMS by class asks whether the product is 0.
pub(super) fn number_of_elements(graph: &mut GraphProto) {
    let whole = |node: &&NodeProto| is(node, "Shape") && node.attribute.is_empty();
    let shapes: HashMap<String, String> = graph
        .node
        .iter()
        .filter(whole)
        .filter_map(|node| Some((node.output.first()?.clone(), node.input.first()?.clone())))
        .collect();
    for node in graph.node.iter_mut().filter(|node| is(node, "ReduceProd")) {
        let all = node.input.len() == 1 && node.ints("axes").is_none() && node.int("keepdims", 1) == 0;
        if let Some(tensor) = node.input.first().and_then(|shape| shapes.get(shape)).filter(|_| all) {
            node.input = vec![tensor.clone()];
            node.op_type = "Size".to_string();
            node.attribute.clear();
        }
    }
}

/// burn-onnx keeps what is computed from sizes as an array, which it does not reduce. A node before the reduction makes
/// it a tensor. torchvision takes the shorter and the longer side of a picture so.
pub(super) fn reductions_of_sizes(graph: &mut GraphProto, known: &Scope) {
    let nodes = std::mem::take(&mut graph.node);
    for mut node in nodes {
        let reduces = matches!(
            node.op_type.as_str(),
            "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceSum"
        );
        let of_sizes = |name: &String| known.get(name).is_some_and(|known| known.elements.is_some());
        if reduces
            && is_default(&node.domain)
            && let Some(sizes) = node.input.first_mut().filter(|name| of_sizes(name))
        {
            let tensor = format!("{sizes}_tensor{}", graph.node.len());
            graph.node.push(NodeProto {
                domain: DOMAIN.to_string(),
                op_type: TENSOR.to_string(),
                input: vec![sizes.clone()],
                output: vec![tensor.clone()],
                ..NodeProto::default()
            });
            *sizes = tensor;
        }
        graph.node.push(node);
    }
}

/// `Expand` to a size of 0 panics in Burn. A pyramid level without regions asks for it.
pub(super) fn expansions(graph: &mut GraphProto) {
    for node in graph.node.iter_mut().filter(|node| is(node, "Expand")) {
        node.domain = DOMAIN.to_string();
        node.op_type = expand::NAME.to_string();
    }
}

/// Whether a node is a standard operator of a name.
pub(super) fn is(node: &NodeProto, name: &str) -> bool {
    node.op_type == name && is_default(&node.domain)
}
