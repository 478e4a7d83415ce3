//! Reads a model: the protobuf, the versions of its operator sets, and external data.

mod external;
pub(crate) mod node;
pub(crate) mod opset;
pub(crate) mod tensor;

use std::path::{Path, PathBuf};

use onnx_ir::{Message, ModelProto};

use crate::error::Error;

/// Parses a model and reads its external data from `folder`; without a folder the model must have none. Returns the
/// model and the files with external data.
pub(crate) fn read(bytes: &[u8], folder: Option<&Path>) -> Result<(ModelProto, Vec<PathBuf>), Error> {
    let mut model = ModelProto::parse_from_bytes(bytes).map_err(|error| Error::Protobuf(error.to_string()))?;
    opset::check_versions(&model)?;
    let files = match model.graph.as_mut() {
        Some(graph) => external::read(graph, folder, bytes.len() as u64)?,
        None => return Err(Error::Protobuf("it has no graph".to_string())),
    };
    if !model.functions.is_empty() {
        let reason = "has functions, which burn-onnx does not read: export the model with its functions inlined";
        return Err(Error::Graph(reason.to_string()));
    }
    Ok((model, files))
}
