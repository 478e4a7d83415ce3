//! Recognizes subgraphs of torchvision's exports and replaces each by one node.

pub(super) mod batched_suppression;
pub(super) mod keypoints;
pub(super) mod paste_masks;
mod producers;
pub(super) mod pyramid;

use onnx_ir::{GraphProto, NodeProto};

use crate::read::node::is;

/// Replaces each node of a graph that has a replacement.
fn replace_each(graph: &mut GraphProto, replacement: fn(&GraphProto, &NodeProto) -> Option<NodeProto>) {
    let nodes = graph.node.iter().enumerate();
    let found: Vec<_> = nodes
        .filter_map(|(at, node)| Some((at, replacement(graph, node)?)))
        .collect();
    for (at, node) in found {
        graph.node[at] = node;
    }
}

/// Whether a node of a loop's body gathers by the index of the iteration.
fn is_taken(body: &GraphProto, node: &NodeProto) -> bool {
    let iteration = body.input.first().map(|input| &input.name);
    is(node, "Gather") && iteration.is_some() && node.input.get(1) == iteration
}
