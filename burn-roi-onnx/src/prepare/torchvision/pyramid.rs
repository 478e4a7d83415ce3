//! Replaces what torchvision's export has for a feature pyramid: for each level, a `Gather` of the level's regions, a
//! `RoiAlign`, and a `ScatterElements` of the results, or a `ScatterND` by torch's exporter of today and in
//! detectron2's export.

use onnx_ir::{AttributeProto, GraphProto, NodeProto};

use super::producers::Producers;
use crate::operators::region::multi_scale::NAME;
use crate::prepare::fold::{Known, Scope};
use crate::prepare::nodes::{self, float, floats, int};
use crate::read::node::NodeAttributes;
use crate::read::tensor::{Data, Tensor, element};

/// Joins the levels of each pyramid of a graph.
pub(crate) fn join(graph: &mut GraphProto, known: &Scope) {
    let producers = Producers::of(graph);
    let chained = |node: &NodeProto| is_scatter(node) && node.domain.is_empty();
    let inner: Vec<&str> = graph
        .node
        .iter()
        .filter(|node| chained(node))
        .filter_map(|node| Some(node.input.first()?.as_str()))
        .collect();
    let last = |node: &NodeProto| chained(node) && node.output.first().is_some_and(|name| !inner.contains(&&**name));
    let joined: Vec<_> = graph
        .node
        .iter()
        .enumerate()
        .filter(|(_, node)| last(node))
        .filter_map(|(at, node)| Some((at, pyramid(&producers, known, node)?)))
        .collect();
    for (at, node) in joined {
        graph.node[at] = node;
    }
}

/// A level of a pyramid.
struct Level<'a> {
    number: i64,
    /// Its `RoiAlign`.
    align: &'a NodeProto,
    /// Whether its output is reshaped before it is scattered.
    reshaped: bool,
    /// The boxes of all levels, with the batch index first.
    rois: &'a str,
    /// The level of each box.
    levels: &'a str,
}

/// The replacement of a chain of `ScatterElements` that ends with `last`.
fn pyramid(producers: &Producers, known: &Scope, last: &NodeProto) -> Option<NodeProto> {
    let mut levels = Vec::new();
    let mut scatter = last;
    loop {
        plain_scatter(scatter).then_some(())?;
        levels.push(level(producers, scatter)?);
        let name = scatter.input.first()?;
        match producers.node(name) {
            Some(before) if is_scatter(before) => scatter = before,
            Some(before) => {
                (before.op_type == "ConstantOfShape" && zeros(before)).then_some(())?;
                break;
            }
            None => {
                let Data::Float(values) = producers.constant(name)?.data else {
                    return None;
                };
                values.iter().all(|&value| value == 0.0).then_some(())?;
                break;
            }
        }
    }
    levels.sort_by_key(|level| level.number);
    let first = levels.first()?;
    let numbered = levels.iter().map(|level| level.number).eq(0..levels.len() as i64);
    let alike = levels.iter().all(|level| {
        let (rois, attributes) = (level.rois == first.rois, settings(level.align) == settings(first.align));
        rois && attributes && level.levels == first.levels
    });
    let fits = levels.iter().all(|level| !level.reshaped) || pools_into(first.align, known.get(last.output.first()?)?);
    (numbered && alike && fits).then_some(())?;

    let rule = rule(producers, first.levels)?;
    (rule.levels <= levels.len() && boxes(producers, first.rois)? == rule.boxes).then_some(())?;
    // torchvision's MobileNet has two maps of one scale: the rule has one level, so no box uses the second map.
    let levels = &levels[..rule.levels];
    let maps = levels.iter().filter_map(|level| level.align.input.first().cloned());
    let scale = |level: &Level| level.align.attribute("spatial_scale").map_or(1.0, |scale| scale.f);
    let mut attributes = settings(first.align).to_vec();
    attributes.push(floats("spatial_scales", levels.iter().map(scale).collect()));
    attributes.extend([
        float("canonical_scale", rule.canonical_scale),
        int("canonical_level", rule.canonical_level as i64),
        float("ratio_epsilon", rule.ratio_epsilon),
        float("level_epsilon", rule.level_epsilon),
        int("first_level", rule.first_level),
    ]);
    let inputs = std::iter::once(first.rois.to_string()).chain(maps).collect();
    Some(nodes::in_place_of(last, NAME, inputs, attributes))
}

/// The attributes that must be equal for all levels: output size, sampling ratio and alignment.
fn settings(align: &NodeProto) -> [AttributeProto; 4] {
    let half_pixel = align.text("coordinate_transformation_mode") == Some(b"half_pixel");
    [
        int("output_height", align.int("output_height", 1)),
        int("output_width", align.int("output_width", 1)),
        int("sampling_ratio", align.int("sampling_ratio", 0)),
        int("aligned", half_pixel.into()),
    ]
}

/// Whether a value has the shape of a `RoiAlign`'s output.
fn pools_into(align: &NodeProto, value: &Known) -> bool {
    let side = |name| usize::try_from(align.int(name, 1)).ok();
    let [height, width] = ["output_height", "output_width"].map(side);
    let Some(&[_, _, rows, columns]) = value.dims.as_deref() else {
        return false;
    };
    rows.is_some() && [rows, columns] == [height, width]
}

fn is_scatter(node: &NodeProto) -> bool {
    matches!(&*node.op_type, "ScatterElements" | "ScatterND")
}

/// Whether a scatter overwrites rows.
fn plain_scatter(node: &NodeProto) -> bool {
    node.int("axis", 0) == 0 && matches!(node.text("reduction"), None | Some(b"none"))
}

/// Whether a `ConstantOfShape` fills with zeros.
fn zeros(node: &NodeProto) -> bool {
    let value = node.tensor("value").map(Tensor::of);
    matches!(
        value,
        None | Some(Some(Tensor {
            data: Data::Float(_),
            ..
        }))
    ) && value.flatten().is_none_or(|value| value.data == Data::Float(vec![0.0]))
}

/// The level whose results a scatter writes.
fn level<'a>(producers: &Producers<'a>, scatter: &'a NodeProto) -> Option<Level<'a>> {
    // torch casts the result to its own dtype, and reshapes it to the shape of the rows that it replaces.
    let pooled = producers.through(scatter.input.get(2)?, &["Cast"])?;
    let reshaped = producers.operator(pooled, "Reshape");
    let align = producers.node(reshaped.map_or(Some(pooled), |node| node.input.first().map(String::as_str))?)?;
    let average = matches!(align.text("mode"), None | Some(b"avg"));
    // The default mode differs between versions, but torch always writes the mode.
    (align.op_type == "RoiAlign" && align.domain.is_empty() && average).then_some(())?;
    let rows = of_rows(producers, align.input.get(1)?, &[1, 2, 3, 4])?;
    let batch = producers.through(align.input.get(2)?, &["Cast", "Squeeze"])?;
    (of_rows(producers, batch, &[0])?.output == rows.output).then_some(())?;
    let chosen = rows.input.get(1)?;

    let column = match &*scatter.op_type {
        "ScatterElements" => producers.operator(
            producers.operator(scatter.input.get(1)?, "Expand")?.input.first()?,
            "Reshape",
        )?,
        _ => producers.operator(scatter.input.get(1)?, "Unsqueeze")?,
    };
    (column.input.first() == Some(chosen)).then_some(())?;

    let asked = producers.through(chosen, &["Squeeze", "Split", "Slice", "Transpose", "Reshape"])?;
    let asked = producers.operator(asked, "NonZero")?;
    let equal = producers.operator(asked.input.first()?, "Equal")?;
    Some(Level {
        number: producers.constant(equal.input.get(1)?)?.integer()?,
        align,
        reshaped: reshaped.is_some(),
        rois: rows.input.first()?,
        levels: equal.input.first()?,
    })
}

/// The `Gather` of rows before a `Gather` or a `Slice` of these columns.
fn of_rows<'a>(producers: &Producers<'a>, columns: &str, numbers: &[i64]) -> Option<&'a NodeProto> {
    let columns = producers.node(columns)?;
    let integers = |at: usize| producers.constant(columns.input.get(at)?)?.integers();
    let taken = match &*columns.op_type {
        "Gather" if columns.int("axis", 0) == 1 => integers(1)?,
        "Slice" if integers(3)? == [1] && columns.input.get(4).is_none_or(|_| integers(4) == Some(vec![1])) => {
            let (starts, ends) = (integers(1)?, integers(2)?);
            (*starts.first()?..(*ends.first()?).min(1 + *numbers.last()?)).collect()
        }
        _ => return None,
    };
    (taken == numbers).then_some(())?;
    let rows = producers.node(of_f32(producers, columns.input.first()?))?;
    (rows.op_type == "Gather" && rows.int("axis", 0) == 0).then_some(rows)
}

/// The rule that assigns a level to a box.
struct Rule<'a> {
    canonical_scale: f32,
    canonical_level: f32,
    /// torchvision adds its epsilon to the level, and detectron2 to the ratio of the sides.
    ratio_epsilon: f32,
    level_epsilon: f32,
    first_level: i64,
    levels: usize,
    /// The boxes whose areas it reads.
    boxes: &'a str,
}

/// `floor(canonical_level + log(sqrt(area) / canonical_scale + ratio_epsilon) / log(2) + level_epsilon)`, clamped to
/// the range of levels, minus the first level. Either epsilon may be left out.
fn rule<'a>(producers: &Producers<'a>, levels: &str) -> Option<Rule<'a>> {
    let (clipped, first_level) = producers.with_number(producers.through(levels, &["Cast"])?, "Sub")?;
    let clip = producers.through(clipped, &["Cast"])?;
    let clip = producers.operator(clip, "Clip")?;
    let bound = |at: usize| producers.number(clip.input.get(at)?);
    let (low, high) = (bound(1)?, bound(2)?);
    let floor = producers.operator(clip.input.first()?, "Floor")?;
    let (sum, last) = producers.with_number(floor.input.first()?, "Add")?;
    let (quotient, canonical_level, level_epsilon) = match producers.with_number(sum, "Add") {
        Some((quotient, level)) => (quotient, level, last),
        None => (sum, last, 0.0),
    };
    let (logarithm, base) = producers.with_number(quotient, "Div")?;
    let ratio = producers.operator(logarithm, "Log")?.input.first()?;
    let (ratio, ratio_epsilon) = producers.with_number(ratio, "Add").unwrap_or((ratio, 0.0));
    let (side, canonical_scale) = producers.with_number(ratio, "Div")?;
    let side = producers.operator(side, "Sqrt")?;
    let area = producers.through(side.input.first()?, &["Concat", "Identity"])?;
    let area = producers.operator(area, "Mul")?;
    let expected = base == std::f32::consts::LN_2 && low == first_level && high >= low;
    expected.then_some(())?;
    let (first, second) = (
        producers.side(area.input.first()?)?,
        producers.side(area.input.get(1)?)?,
    );
    let both = [first.1, second.1];
    (first.0 == second.0 && (both == [[2, 0], [3, 1]] || both == [[3, 1], [2, 0]])).then_some(())?;
    Some(Rule {
        canonical_scale,
        canonical_level,
        ratio_epsilon,
        level_epsilon,
        first_level: first_level as i64,
        levels: (high - low) as usize + 1,
        boxes: plain(producers, first.0),
    })
}

/// The boxes before batch indices were prepended.
fn boxes<'a>(producers: &Producers<'a>, rois: &str) -> Option<&'a str> {
    let joined = producers
        .operator(rois, "Concat")
        .filter(|node| node.int("axis", 0) == 1)?;
    (joined.input.len() == 2).then(|| plain(producers, joined.input[1].as_str()))
}

/// The input of a `Cast` to f32, of a `Concat` of one tensor or of an `Identity`, which torch writes for one image.
fn plain<'a>(producers: &Producers<'a>, name: &'a str) -> &'a str {
    match producers.node(name) {
        Some(node) if matches!(&*node.op_type, "Concat" | "Identity") && node.input.len() == 1 => {
            plain(producers, &node.input[0])
        }
        _ if of_f32(producers, name) != name => plain(producers, of_f32(producers, name)),
        _ => name,
    }
}

/// The input of a `Cast` to f32. detectron2 casts boxes to the dtype of the maps.
fn of_f32<'a>(producers: &Producers<'a>, name: &'a str) -> &'a str {
    let cast = producers
        .operator(name, "Cast")
        .filter(|node| node.int("to", 0) == i64::from(element::FLOAT));
    cast.and_then(|node| node.input.first()).map_or(name, String::as_str)
}
