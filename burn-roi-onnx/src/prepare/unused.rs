//! Dead-code elimination: removes the nodes that no output of the model depends on.

use std::collections::HashSet;

use onnx_ir::GraphProto;

use crate::read::node::{graphs, used};

pub(super) fn remove(graph: &mut GraphProto) {
    let mut needed: HashSet<String> = graph.output.iter().map(|output| output.name.clone()).collect();
    let mut kept = Vec::with_capacity(graph.node.len());
    for node in std::mem::take(&mut graph.node).into_iter().rev() {
        if node.output.iter().any(|name| needed.contains(name)) {
            needed.extend(node.input.iter().cloned());
            needed.extend(graphs(&node).flat_map(used));
            kept.push(node);
        }
    }
    kept.reverse();
    graph.node = kept;
    graph.initializer.retain(|tensor| needed.contains(&tensor.name));
}
