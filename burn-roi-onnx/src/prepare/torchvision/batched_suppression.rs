//! Replaces torchvision's class-wise NMS. The export computes it in an `If` that tests whether there are boxes, and
//! burn-onnx takes no custom operator in a branch.

use onnx_ir::{GraphProto, NodeProto, TensorProto};

use super::producers::Producers;
use super::replace_each;
use crate::operators::own::batched_suppression::{NAME, THRESHOLD};
use crate::operators::own::sizes;
use crate::prepare::nodes;
use crate::read::node::{NodeAttributes, is};
use crate::read::tensor::{Data, Tensor};

/// The operators of the branch, in their order.
#[rustfmt::skip]
const BRANCH: [&str; 15] = [
    "ReduceMax", "Cast", "Add", "Mul", "Slice", "Unsqueeze", "Add", "Unsqueeze", "Unsqueeze", "Unsqueeze", "Cast",
    "Cast", "NonMaxSuppression", "Gather", "Squeeze",
];

/// Replaces each such `If` of a graph.
pub(crate) fn replace(graph: &mut GraphProto) {
    replace_each(graph, suppression);
}

/// The replacement of a node, if it is such an `If`.
fn suppression(graph: &GraphProto, choice: &NodeProto) -> Option<NodeProto> {
    is(choice, "If").then_some(())?;
    let (empty, branch) = (choice.graph("then_branch")?, choice.graph("else_branch")?);
    let same = branch.node.iter().map(|node| node.op_type.as_str()).eq(BRANCH);
    (same && empty.node.len() == 1 && is(&empty.node[0], "Constant")).then_some(())?;
    let value = Tensor::of(empty.node[0].tensor("value")?)?;
    (value.dims == [0] && choice.output.len() == 1).then_some(())?;

    let node = |at: usize| &branch.node[at];
    let input = |at: usize, number: usize| node(at).input.get(number).map(String::as_str);
    // Whether the node `at` produces an input of the node `to`.
    let feeds = |at: usize, to: usize, number: usize| input(to, number) == node(at).output.first().map(String::as_str);
    let chained = [
        (0, 2, 0),
        (1, 3, 0),
        (2, 3, 1),
        (3, 4, 0),
        (4, 5, 0),
        (5, 6, 1),
        (6, 7, 0),
        (8, 9, 0),
        (7, 10, 0),
        (9, 11, 0),
        (10, 12, 0),
        (11, 12, 1),
        (12, 13, 0),
        (13, 14, 0),
    ];
    let (boxes, labels, scores) = (input(0, 0)?, input(1, 0)?, input(8, 0)?);
    let linked = chained.iter().all(|&(from, to, number)| feeds(from, to, number)) && input(6, 0) == Some(boxes);

    let constant = |at: usize, number: usize| constant(graph, branch, input(at, number)?);
    let all = constant(4, 1)?.integers()? == [0] && constant(4, 2)?.integers()? == [i64::MAX];
    let one = constant(2, 1)?.data == Data::Float(vec![1.0]);
    // torch writes a limit above any number of boxes.
    let unlimited = constant(12, 2)?.integers()?[..]
        .first()
        .is_some_and(|&most| most >= i64::from(i32::MAX));
    let corners = node(12).int("center_point_box", 0) == 0 && node(12).input.len() == 4;
    let column = node(13).int("axis", 0) == 1 && constant(13, 1)?.integers()? == [2];
    let threshold = match constant(12, 3)?.data {
        Data::Float(threshold) => *threshold.first()?,
        _ => return None,
    };
    let fits = linked && all && one && unlimited && corners && column && node(0).int("keepdims", 1) == 0;
    (fits && is_empty(graph, choice.input.first()?, boxes)).then_some(())?;
    let inputs = [boxes, scores, labels].map(str::to_string).to_vec();
    Some(nodes::in_place_of(
        choice,
        NAME,
        inputs,
        vec![nodes::float(THRESHOLD, threshold)],
    ))
}

/// A constant of a branch or of the surrounding graph.
fn constant(graph: &GraphProto, branch: &GraphProto, name: &str) -> Option<Tensor> {
    let find = |tensors: &[TensorProto]| tensors.iter().find(|tensor| tensor.name == name).and_then(Tensor::of);
    find(&branch.initializer).or_else(|| find(&graph.initializer))
}

/// Whether a condition is true if there is no box.
fn is_empty(graph: &GraphProto, condition: &str, boxes: &str) -> bool {
    let producer = Producers::of(graph).operator(condition, sizes::NAME);
    producer.is_some_and(|node| {
        let code = node.attribute(sizes::CODE).map(|code| code.strings.as_slice());
        let asked = "(i64::wrapping_mul((burn_roi_sizes0[0] as i64), (4i64)) == (0i64))";
        let [only] = code.unwrap_or_default() else {
            return false;
        };
        node.input == [boxes] && only[..] == *asked.as_bytes()
    })
}
