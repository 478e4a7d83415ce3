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

use onnx_ir::{Message, ModelProto};

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

pub(crate) fn rewrite(model: &mut ModelProto, settings: &Settings) -> Result<(), Error> {
    let version = read::opset::version(model, "").and_then(|version| usize::try_from(version).ok());
    let version = version.unwrap_or_default();
    if let Some(graph) = model.graph.as_mut() {
        input_sizes::fix(graph, &settings.sizes)?;
        names::make_unique(graph)?;
        let known = fold::fold(graph);
        limits::check(graph, &known, version)?;
        torchvision::batched_suppression::replace(graph);
        torchvision::paste_masks::replace(graph);
        torchvision::keypoints::replace(graph);
        substitute::gathers_of_rows(graph);
        if settings.joins_levels {
            torchvision::pyramid::join(graph, &known);
        }
        substitute::shaping(graph, &known);
        substitute::softmax_of_axes(graph, &known, version);
        without_elements::to_own(graph, &known);
        without_elements::default_epsilon(graph);
        substitute::to_own(graph);
        substitute::constants_of_extremes(graph);
        substitute::sizes_of_extremes(graph);
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
