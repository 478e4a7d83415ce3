//! Refuses attributes and inputs of standard operators that burn-onnx rounds in silence, or whose generated code panics
//! when it runs.

use onnx_ir::{GraphProto, NodeProto};

use super::fold::Scope;
use crate::error::Error;
use crate::operators::attributes::Attributes;
use crate::read::node::{graphs, is};
use crate::read::tensor::{Data, Tensor};

/// Checks the nodes of a graph of an operator set version, and of its bodies.
pub(super) fn check(graph: &GraphProto, known: &Scope, version: usize) -> Result<(), Error> {
    for node in &graph.node {
        if is(node, "GridSample") {
            grid_sample(node, known, version)?;
        } else if is(node, "Pad") {
            pad(node, known, version)?;
        }
        graphs(node).try_for_each(|body| check(body, known, version))?;
    }
    Ok(())
}

/// Burn's Flex samples maps with two spatial axes, bilinear or nearest.
fn grid_sample(node: &NodeProto, known: &Scope, version: usize) -> Result<(), Error> {
    let attributes = Attributes::of(node, version);
    attributes.only(&["align_corners", "mode", "padding_mode"])?;
    attributes.choice("mode", (), &[("bilinear", ()), ("linear", ()), ("nearest", ())])?;
    let rank = node.input.first().and_then(|name| known.get(name)?.rank());
    match rank {
        Some(rank) if rank != 4 => Err(attributes.wrong_input("X", format!("of rank {rank}"), "of rank 4")),
        _ => Ok(()),
    }
}

/// burn-onnx pads at the ends only, and turns the value into an f32.
fn pad(node: &NodeProto, known: &Scope, version: usize) -> Result<(), Error> {
    let attributes = Attributes::of(node, version);
    attributes.choice("mode", (), &[("constant", ()), ("edge", ()), ("reflect", ())])?;
    let value = |at: usize| node.input.get(at).and_then(|name| known.get(name)?.value.clone());
    let pads = match value(1) {
        Some(pads) => pads.integers().unwrap_or_default(),
        None => attributes.ints("pads", Some(&[]))?,
    };
    if pads.iter().any(|&pad| pad < 0) {
        return Err(attributes.wrong_input("pads", format!("{pads:?}"), "0 or above: Pad removes no elements here"));
    }
    match value(2) {
        Some(value) if !is_exact_in_f32(&value) => {
            Err(attributes.wrong_input("constant_value", format!("{:?}", value.data), "exact in f32"))
        }
        _ => Ok(()),
    }
}

fn is_exact_in_f32(value: &Tensor) -> bool {
    match &value.data {
        Data::Double(values) => values
            .iter()
            .all(|&value| f64::from(value as f32) == value || value.is_nan()),
        Data::Int64(values) => values.iter().all(|&value| value as f32 as i128 == i128::from(value)),
        Data::Int32(values) => values.iter().all(|&value| value as f32 as i64 == i64::from(value)),
        Data::Float(_) | Data::Bool(_) => true,
    }
}
