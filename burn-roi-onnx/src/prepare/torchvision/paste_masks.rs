//! Replaces the `Loop` in which torchvision's export pastes masks into the image. burn-onnx does not take its body.

use onnx_ir::{GraphProto, NodeProto};

use super::is_taken;
use super::producers::Producers;
use crate::operators::region::paste_masks::NAME;
use crate::prepare::fold::Scope;
use crate::prepare::nodes;
use crate::read::node::{NodeAttributes, is};
use crate::read::tensor::Tensor;

/// The operators in the body of the loop.
#[rustfmt::skip]
const BODY: [&str; 17] = [
    "Add", "Cast", "Concat", "Constant", "ConstantOfShape", "Equal", "Expand", "Gather", "Identity", "Mul", "ReduceMax",
    "ReduceMin", "Reshape", "Resize", "Shape", "Slice", "Sub",
];

/// Operators that some exporters write beside these.
const OF_EXPORTERS: [&str; 3] = ["Squeeze", "Unsqueeze", "Where"];

/// Replaces the first such loop of a graph.
pub(crate) fn replace(graph: &mut GraphProto, known: &Scope) {
    let found = graph
        .node
        .iter()
        .enumerate()
        .find_map(|(at, node)| Some((at, pasting(graph, known, node)?)));
    let Some((at, mut node)) = found else {
        return;
    };
    match constant_sizes(graph, &node.input[2]) {
        Some(sizes) => {
            let name = format!("{}_sizes", node.input[2]);
            graph.initializer.push(sizes.to_proto(&name));
            node.input[2] = name;
        }
        None => match Producers::of(graph).node(&node.input[2]) {
            Some(zeros) if is(zeros, "ConstantOfShape") && !zeros.input.is_empty() => {
                node.input[2] = zeros.input[0].clone();
            }
            _ => return,
        },
    }
    graph.node[at] = node;
}

/// The replacement of a node, if it is such a loop. Its third input is still that of the loop: zeros `[0, H, W]`.
fn pasting(graph: &GraphProto, known: &Scope, node: &NodeProto) -> Option<NodeProto> {
    is(node, "Loop").then_some(())?;
    let body = node.graph("body")?;
    let shaped = node.input.len() == 3 && node.output.len() == 1 && body.input.len() == 3 && body.output.len() == 2;
    (shaped && pastes(body)).then_some(())?;

    // The body gathers the mask and the box by the index of the iteration.
    let taken: Vec<_> = body.node.iter().filter(|node| is_taken(body, node)).collect();
    let producers = Producers::of(graph);
    let taken_from = |operator| taken.iter().find_map(|node| input(&producers, node, operator));
    let (padded, grown) = (taken_from("Pad")?, taken_from("Cast")?);
    let padding = producers.constant(padded.input.get(1)?)?;
    (padding.integers()? == [0, 0, 1, 1, 0, 0, 1, 1]).then_some(())?;
    let masks = padded.input.first()?;
    let (boxes, scale) = boxes(&producers, grown)?;
    let size = known.get(masks).and_then(|masks| *masks.dims.as_ref()?.last()?);
    is_scale_of_padding(&producers, scale, size)?.then_some(())?;
    let inputs = vec![masks.clone(), boxes.to_string(), node.input[2].clone()];
    Some(nodes::in_place_of(node, NAME, inputs, Vec::new()))
}

/// Whether the body of a loop has torchvision's operators, and resizes as it does.
fn pastes(body: &GraphProto) -> bool {
    let allowed = |node: &NodeProto| BODY.contains(&&*node.op_type) || OF_EXPORTERS.contains(&&*node.op_type);
    let of = |name: &'static str| body.node.iter().filter(move |node| is(node, name));
    let resizes_as_torch = |resize: &NodeProto| {
        let transformation = resize.text("coordinate_transformation_mode");
        resize.text("mode") == Some(b"linear") && matches!(transformation, None | Some(b"half_pixel"))
    };
    let counts = ["Resize", "ReduceMax", "ReduceMin"].map(|name| of(name).count());
    body.node.iter().all(allowed) && counts == [1, 4, 2] && of("Resize").all(resizes_as_torch)
}

/// The boxes before they are enlarged about their centres, and the scale.
fn boxes<'a>(producers: &Producers<'a>, grown: &NodeProto) -> Option<(&'a str, &'a str)> {
    let joined = input(producers, grown, "Concat").filter(|node| node.input.len() == 4 && node.int("axis", 0) == 1)?;
    let corners = [("Sub", 0), ("Sub", 1), ("Add", 0), ("Add", 1)];
    let mut corners = corners.iter().zip(&joined.input);
    let of = |(&(operator, axis), name): (&_, &String)| {
        corner(producers, producers.operator(name, "Unsqueeze")?, operator, axis)
    };
    let first = of(corners.next()?)?;
    corners.all(|corner| of(corner) == Some(first)).then_some(first)
}

/// The boxes and the scale, if a coordinate is the centre of a box minus or plus half of its side times the scale.
fn corner<'a>(
    producers: &Producers<'a>,
    coordinate: &NodeProto,
    operator: &str,
    axis: i64,
) -> Option<(&'a str, &'a str)> {
    let corner = input(producers, coordinate, operator)?;
    let scaled = producers.operator(corner.input.get(1)?, "Mul")?;
    let half_of = |name: &'a str, operator| {
        let (whole, factor) = producers.with_number(producers.through(name, &["Cast"])?, "Mul")?;
        producers.columns(whole, operator).filter(|_| factor == 0.5)
    };
    let centre = half_of(corner.input.first()?, "Add")?;
    let side = half_of(scaled.input.first()?, "Sub")?;
    (centre == side && side.1 == [axis + 2, axis]).then_some((side.0, scaled.input.get(1)?))
}

/// Whether a scale is that of masks with one more pixel on either side: `(size + 2) / size`.
fn is_scale_of_padding(producers: &Producers, scale: &str, size: Option<usize>) -> Option<bool> {
    // It is a constant if the masks' size is known.
    if let Some(scale) = producers.number(scale) {
        return Some(scale == (size? + 2) as f32 / size? as f32);
    }
    let quotient = producers.operator(scale, "Div")?;
    let part = |at: usize| producers.through(quotient.input.get(at)?, &["Cast"]);
    let (size, padding) = producers.with_number(part(0)?, "Add")?;
    Some(padding == 2.0 && part(1)? == size)
}

/// The node that produces the first input, if it is of this operator.
fn input<'a>(producers: &Producers<'a>, node: &NodeProto, operator: &str) -> Option<&'a NodeProto> {
    producers.node(node.input.first()?).filter(|node| is(node, operator))
}

/// The sizes of the loop's zeros, if these are a constant.
fn constant_sizes(graph: &GraphProto, zeros: &str) -> Option<Tensor> {
    let zeros = graph.initializer.iter().find(|tensor| tensor.name == zeros)?;
    Some(Tensor::of_integers(zeros.dims.clone()))
}
