//! Replaces standard nodes that burn-onnx refuses or whose generated code fails.

use std::collections::{HashMap, HashSet};

use onnx_ir::{GraphProto, NodeProto, TensorProto, ValueInfoProto};

use super::fold::{Known, Scope};
use super::nodes::int;
use super::region_operators::{is_resize, move_to};
use crate::operators::own::{shaping, sizes, softmax, top_k};
use crate::read::node::{NodeAttributes, is};
use crate::read::opset::{DOMAIN, is_default};
use crate::read::tensor::element;

/// Burn's `expand` and `reshape` refuse tensors without elements. An image or a pyramid level without regions has such
/// tensors.
pub(super) fn shaping(graph: &mut GraphProto, known: &Scope) {
    let dims = |name: Option<&String>| known.get(name?).and_then(Known::sizes);
    let mut constants = Vec::new();
    for node in graph.node.iter_mut().filter(|node| is_default(&node.domain)) {
        // A tensor whose known sizes are above 0 has elements.
        let fixed = dims(node.input.first()).is_some_and(|sizes| !sizes.contains(&0));
        let asks = node.input.get(1).is_some() && dims(node.input.get(1)).is_some_and(|sizes| sizes.len() == 1);
        match node.op_type.as_str() {
            "ConstantOfShape" if dims(node.input.first()).is_some_and(|sizes| sizes.len() == 1) => {
                let Some(sizes) = node.input.first().cloned() else {
                    continue;
                };
                let value = match node.tensor("value") {
                    Some(value) => value.clone(),
                    None => TensorProto {
                        dims: vec![1],
                        data_type: element::FLOAT,
                        float_data: vec![0.0],
                        ..TensorProto::default()
                    },
                };
                let name = format!("{}_value", node.output.first().cloned().unwrap_or_default());
                constants.push(TensorProto {
                    name: name.clone(),
                    ..value
                });
                node.op_type = shaping::EXPAND.to_string();
                node.input = vec![name, sizes];
                node.attribute.clear();
            }
            "Expand" | "Reshape" if asks && (!fixed || node.op_type == "Expand") => {}
            "Flatten" if !fixed => {}
            _ => continue,
        }
        node.domain = DOMAIN.to_string();
    }
    graph.initializer.append(&mut constants);
}

/// burn-onnx panics for `Min` and `Max` of a tensor and a scalar, so a constant scalar becomes a tensor of rank 1.
pub(super) fn constants_of_extremes(graph: &mut GraphProto) {
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

/// `GatherND` of rows, as torch's exporter of today writes `tensor[indices]`, becomes `Gather`. burn-onnx knows the
/// rank of its output only if the length of an index tuple is in the shape that it inferred, and else its code does not
/// compile.
pub(super) fn gathers_of_rows(graph: &mut GraphProto) {
    let columns: HashSet<&str> = graph
        .value_info
        .iter()
        .filter(|value| is_column(value))
        .map(|value| &*value.name)
        .collect();
    let rows: HashMap<String, String> = graph
        .node
        .iter()
        .filter(|node| is(node, "Unsqueeze"))
        .filter_map(|node| Some((node.output.first()?.clone(), node.input.first()?.clone())))
        .filter(|(column, _)| columns.contains(column.as_str()))
        .collect();
    for node in graph.node.iter_mut().filter(|node| is(node, "GatherND")) {
        let indices = node.input.get_mut(1);
        if let Some((indices, row)) = indices.and_then(|name| Some((rows.get(name)?, name)))
            && node.attribute.iter().all(|attribute| attribute.i == 0)
        {
            row.clone_from(indices);
            node.op_type = "Gather".to_string();
            node.attribute.clear();
        }
    }
}

/// Whether a value is of rank 2 with one column.
fn is_column(value: &ValueInfoProto) -> bool {
    let dims = value.type_.tensor_type().shape.dim.as_slice();
    matches!(dims, [_, columns] if columns.dim_value() == 1)
}

/// Moves `TopK`, `Resize` and `Upsample` to the operator set of this crate.
pub(super) fn to_own(graph: &mut GraphProto) {
    let moves = |node: &NodeProto| is(node, top_k::NAME) || is_resize(node);
    for node in graph.node.iter_mut().filter(|node| moves(node)) {
        move_to(node, DOMAIN);
    }
}

/// Moves `Softmax` and `LogSoftmax` of a version in which they are about more than one axis, unless the first of these
/// axes is the last one of the input.
pub(super) fn softmax_of_axes(graph: &mut GraphProto, known: &Scope, version: usize) {
    if version >= softmax::OF_ONE_AXIS {
        return;
    }
    let of_this = |node: &NodeProto| is(node, "Softmax") || is(node, "LogSoftmax");
    for node in graph.node.iter_mut().filter(|node| of_this(node)) {
        let axis = node.int("axis", 1);
        let rank = node.input.first().and_then(|name| known.get(name)?.rank());
        let last = axis == -1 || rank.is_some_and(|rank| axis == rank as i64 - 1);
        if !last {
            move_to(node, DOMAIN);
        } else if node.attribute("axis").is_none() {
            node.attribute.push(int("axis", axis));
        }
    }
}

/// burn-onnx takes no scalars as inputs of `Min` and `Max`, so computed ones become tensors of rank 1.
pub(super) fn sizes_of_extremes(graph: &mut GraphProto) {
    let computed: HashMap<String, NodeProto> = graph
        .node
        .iter()
        .filter(|node| node.domain == DOMAIN && node.op_type == sizes::NAME)
        .filter_map(|node| Some((node.output.first()?.clone(), node.clone())))
        .collect();
    for mut node in std::mem::take(&mut graph.node) {
        let takes = if is(&node, "Min") || is(&node, "Max") { 2 } else { 0 };
        for asked in node.input.iter_mut().take(takes) {
            if let Some(mut number) = computed.get(asked).cloned() {
                *asked = format!("{asked}_copy{}", graph.node.len());
                number.output = vec![asked.clone()];
                for attribute in number
                    .attribute
                    .iter_mut()
                    .filter(|attribute| attribute.name == sizes::SIZES && attribute.ints.is_empty())
                {
                    attribute.ints = vec![1];
                }
                graph.node.push(number);
            }
        }
        graph.node.push(node);
    }
}
