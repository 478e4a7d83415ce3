//! Rewrites a model so that burn-onnx takes it: folds constants, replaces nodes, and moves region operators to this
//! crate's operator set.

mod fold;
mod input_sizes;
mod limits;
mod names;
mod nodes;
mod region_operators;
mod substitute;
mod torchvision;
mod unused;
mod without_elements;

use std::path::Path;

use onnx_ir::{GraphProto, Message, ModelProto};

use crate::error::Error;
use crate::read;

/// How a model is rewritten.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// Names of inputs and the sizes to fix them to.
    pub sizes: Vec<(String, Vec<usize>)>,
    /// Pools all levels of a feature pyramid in one call.
    pub joins_levels: bool,
}

/// Rewrites a model in memory, as [`input`](crate::input()) does with a file. External data is read from `folder`;
/// without a folder the model must have none.
///
/// The rewritten model has no external data. It is for burn-onnx alone: its region operators are in an operator set
/// that no other program knows.
///
/// # Errors
///
/// An [`Error`] if the bytes are no ONNX model, if external data is missing or outside of `folder`, if a value has no
/// producer or two, or if a region operator's node is malformed.
pub fn prepare(bytes: &[u8], folder: Option<&Path>) -> Result<Vec<u8>, Error> {
    let (mut model, _) = read::read(bytes, folder)?;
    rewrite(&mut model, &Settings::default())?;
    encode(&model)
}

/// What the passes are told.
struct Facts {
    known: fold::Scope,
    /// The version of the default operator set.
    version: usize,
    joins_levels: bool,
}

/// What is done with a folded graph, in this order.
const PASSES: [fn(&mut GraphProto, &Facts); 12] = [
    // Subgraphs are recognized by standard nodes, some of which the last passes move to this crate's operator set.
    |graph, _| torchvision::batched_suppression::replace(graph),
    |graph, facts| torchvision::paste_masks::replace(graph, &facts.known),
    |graph, _| torchvision::keypoints::replace(graph),
    // A level of a pyramid is recognized by a `Gather` of rows, which torch's exporter of today writes as `GatherND`.
    |graph, _| substitute::gathers_of_rows(graph),
    |graph, facts| {
        if facts.joins_levels {
            torchvision::pyramid::join(graph, &facts.known);
        }
    },
    // Each of these changes other operators or other inputs, so their order does not matter.
    |graph, facts| substitute::shaping(graph, &facts.known),
    |graph, facts| substitute::softmax_of_axes(graph, &facts.known, facts.version),
    |graph, facts| without_elements::to_own(graph, &facts.known),
    |graph, _| without_elements::default_epsilon(graph),
    |graph, _| substitute::to_own(graph),
    |graph, _| substitute::constants_of_extremes(graph),
    |graph, _| substitute::sizes_of_extremes(graph),
];

pub(crate) fn rewrite(model: &mut ModelProto, settings: &Settings) -> Result<(), Error> {
    let version = read::opset::version(model, "").and_then(|version| usize::try_from(version).ok());
    let version = version.unwrap_or_default();
    if let Some(graph) = model.graph.as_mut() {
        // Inputs are given by the names that they have in the model.
        input_sizes::fix(graph, &settings.sizes)?;
        // Folding knows a value by its name, in all graphs of the model.
        names::make_unique(graph)?;
        let known = fold::fold(graph);
        // Some limits are about inputs that only folding makes constants.
        limits::check(graph, &known, version)?;
        let facts = Facts {
            known,
            version,
            joins_levels: settings.joins_levels,
        };
        PASSES.iter().for_each(|pass| pass(graph, &facts));
    }
    // A region operator in a loop is refused, unless a pass has replaced the loop.
    region_operators::prepare(model)?;
    if let Some(graph) = model.graph.as_mut() {
        // The nodes of a subgraph stay when its last node is replaced.
        unused::remove(graph);
    }
    Ok(())
}

pub(crate) fn encode(model: &ModelProto) -> Result<Vec<u8>, Error> {
    model
        .write_to_bytes()
        .map_err(|error| Error::Protobuf(error.to_string()))
}
