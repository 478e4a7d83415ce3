//! Rewrites a model so that burn-onnx takes it.

mod fold;
mod input_sizes;
mod names;
mod nodes;
mod region_operators;
mod substitute;
mod torchvision;
mod unused;

use std::path::Path;

use onnx_ir::{Message, ModelProto};

use crate::error::Error;
use crate::read;

/// How a model is rewritten.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// The sizes of inputs, by their names.
    pub sizes: Vec<(String, Vec<usize>)>,
    /// Whether the levels of a feature pyramid are pooled in one call.
    pub joins_levels: bool,
}

/// Rewrites a model in memory, as [`input`](crate::input()) does with a file. `folder` is where its external data lies;
/// without one the model must have none.
///
/// The rewritten model has no external data. It is for burn-onnx alone: its region operators are in an operator set
/// that no other program knows.
///
/// # Errors
///
/// An [`Error`] if the bytes are no ONNX model, if external data is missing or lies outside of `folder`, if two nodes
/// give one value or none gives it, or if a region operator's node is malformed.
pub fn prepare(bytes: &[u8], folder: Option<&Path>) -> Result<Vec<u8>, Error> {
    let (mut model, _) = read::read(bytes, folder)?;
    rewrite(&mut model, &Settings::default())?;
    encode(&model)
}

pub(crate) fn rewrite(model: &mut ModelProto, settings: &Settings) -> Result<(), Error> {
    if let Some(graph) = model.graph.as_mut() {
        input_sizes::fix(graph, &settings.sizes)?;
        names::make_unique(graph)?;
        let known = fold::fold(graph);
        torchvision::batched_suppression::replace(graph);
        torchvision::paste_masks::replace(graph);
        torchvision::keypoints::replace(graph);
        if settings.joins_levels {
            torchvision::pyramid::join(graph);
        }
        substitute::shaping(graph, &known);
        substitute::top_k(graph);
        substitute::numbers_in_extremes(graph);
        substitute::ranks_of_sizes(graph);
    }
    region_operators::prepare(model)?;
    if let Some(graph) = model.graph.as_mut() {
        unused::remove(graph);
    }
    Ok(())
}

pub(crate) fn encode(model: &ModelProto) -> Result<Vec<u8>, Error> {
    model
        .write_to_bytes()
        .map_err(|error| Error::Protobuf(error.to_string()))
}
