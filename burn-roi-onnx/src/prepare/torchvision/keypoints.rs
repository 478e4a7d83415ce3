//! Replaces the `Loop` in which torchvision's export finds the maximum of each heatmap. burn-onnx does not take its
//! body.

use onnx_ir::{GraphProto, NodeProto};

use super::producers::Producers;
use super::{is_taken, replace_each};
use crate::operators::own::keypoints::NAME;
use crate::prepare::nodes;
use crate::read::node::{NodeAttributes, is};

/// The operators in the body of the loop.
#[rustfmt::skip]
const BODY: [&str; 21] = [
    "Add", "ArgMax", "Cast", "Concat", "Constant", "ConstantOfShape", "Div", "Expand", "Gather", "Identity", "Mod",
    "Mul", "Range", "Reshape", "Resize", "Shape", "Slice", "Squeeze", "Sub", "Unsqueeze", "Where",
];

/// Replaces each such loop of a graph.
pub(crate) fn replace(graph: &mut GraphProto) {
    replace_each(graph, keypoints);
}

/// The replacement of a node, if it is such a loop.
fn keypoints(graph: &GraphProto, node: &NodeProto) -> Option<NodeProto> {
    is(node, "Loop").then_some(())?;
    let body = node.graph("body")?;
    let named = node.output.len() == 2 && node.output.iter().all(|name| !name.is_empty());
    let shaped = named && node.input.len() == 4 && body.input.len() == 4 && body.output.len() == 3;
    (shaped && body.node.iter().all(|node| BODY.contains(&&*node.op_type))).then_some(())?;
    let inside = Producers::of(body);
    let resize = only(body, "Resize").filter(|resize| is_cubic(resize))?;
    let largest = only(body, "ArgMax").filter(|largest| largest.int("axis", 0) == 1)?;
    inside.through(largest.input.first()?, &["Reshape", "Gather", "Slice"])?;

    // The body gathers the heatmaps, the sides and the corner of the box by the index of the iteration.
    let heatmaps = inside.through(resize.input.first()?, &["Unsqueeze", "Slice"])?;
    let heatmaps = inside
        .node(heatmaps)
        .filter(|node| is_taken(body, node))?
        .input
        .first()?;
    let producers = Producers::of(graph);
    let taken: Vec<&NodeProto> = body
        .node
        .iter()
        .filter(|node| is_taken(body, node))
        .filter_map(|node| producers.node(node.input.first()?))
        .collect();
    let of = |name: &'static str| taken.iter().filter(move |node| is(node, name));
    let sides: Vec<_> = of("Clip").map(|clip| side(&producers, clip)).collect::<Option<_>>()?;
    let [(boxes, [2, 0]), (same, [3, 1])] = sides[..] else {
        return None;
    };
    let corner: Vec<_> = of("Gather").filter_map(|node| producers.column(node)).collect();
    (boxes == same && corner == [(boxes, 0), (boxes, 1)] && of("Ceil").count() == 2).then_some(())?;
    let inputs = vec![heatmaps.clone(), boxes.to_string()];
    Some(nodes::in_place_of(node, NAME, inputs, Vec::new()))
}

/// The node of an operator, if a body has exactly one.
fn only<'a>(body: &'a GraphProto, name: &str) -> Option<&'a NodeProto> {
    let mut nodes = body.node.iter().filter(|node| is(node, name));
    nodes.next().filter(|_| nodes.next().is_none())
}

/// Whether a `Resize` is bicubic with torch's settings.
fn is_cubic(resize: &NodeProto) -> bool {
    let transformation = resize.text("coordinate_transformation_mode");
    let coefficient = resize.attribute("cubic_coeff_a").map_or(-0.75, |value| value.f);
    resize.text("mode") == Some(b"cubic")
        && matches!(transformation, None | Some(b"half_pixel"))
        && resize.int("exclude_outside", 0) == 0
        && coefficient == -0.75
}

/// The boxes and the two columns whose difference is clipped to at least 1.
fn side<'a>(producers: &Producers<'a>, clip: &'a NodeProto) -> Option<(&'a str, [i64; 2])> {
    let least = clip.attribute("min").map(|least| least.f);
    let least = least.or_else(|| producers.number(clip.input.get(1)?));
    let unbounded = clip.attribute("max").is_none() && clip.input.get(2).is_none_or(String::is_empty);
    (least == Some(1.0) && unbounded).then_some(())?;
    producers.side(clip.input.first()?)
}
