//! Generates the code of the models. A panic of burn-onnx becomes an error.

use std::env;
use std::fs;
use std::path::Path;

use burn_onnx::ModelGen;
use onnx_ir::{Message, ModelProto};

use super::output::FOLDER;
use super::panic::catch;
use crate::error::{Error, NodeId};

/// Generates the code of all models, as [`ModelGen::run_from_script`](burn_onnx::ModelGen::run_from_script) does, but
/// returns an error instead of a panic if burn-onnx has no code for a node.
///
/// ```no_run
/// # fn main() -> Result<(), burn_roi_onnx::Error> {
/// let mut model = burn_onnx::ModelGen::new();
/// burn_roi_onnx::input(&mut model, "model/detector.onnx")?;
/// burn_roi_onnx::register(&mut model);
/// burn_roi_onnx::generate(model.out_dir("model/"))
/// # }
/// ```
///
/// # Errors
///
/// [`Error::Generate`] with the text of the panic. burn-onnx numbers the nodes of each operator and forgets their
/// names, so the error also lists the nodes of that operator in the models that [`input`](crate::input()) prepared.
pub fn generate(model: &ModelGen) -> Result<(), Error> {
    catch(|| model.run_from_script()).map_err(|reason| {
        let nodes = node_type(&reason).map(nodes_of).unwrap_or_default();
        Error::Generate { reason, nodes }
    })
}

/// The type of the node in a panic's text: `Conv2d` of `Code generation failed for node 'conv2d3' (Conv2d): …`.
fn node_type(reason: &str) -> Option<&str> {
    let (_, rest) = reason.split_once("for node '")?;
    let (_, rest) = rest.split_once("' (")?;
    Some(rest.split_once("):")?.0)
}

/// The nodes of all prepared models that burn-onnx may have converted to a type.
fn nodes_of(node_type: &str) -> Vec<NodeId> {
    let models = env::var_os("OUT_DIR").and_then(|folder| fs::read_dir(Path::new(&folder).join(FOLDER)).ok());
    let files = models
        .into_iter()
        .flatten()
        .filter_map(|entry| fs::read(entry.ok()?.path()).ok());
    let models: Vec<_> = files
        .filter_map(|bytes| ModelProto::parse_from_bytes(&bytes).ok())
        .collect();
    let nodes = || models.iter().flat_map(|model| &model.graph.node);
    // A type is the operator's name, for some operators with the number of spatial axes: `Conv2d` is a `Conv`, and
    // `ConvTranspose2d` is not.
    let fits = |name: &&str| {
        let rest = node_type.strip_prefix(name);
        rest.is_some_and(|rest| matches!(rest, "" | "1d" | "2d" | "3d"))
    };
    let operator = nodes().map(|node| node.op_type.as_str()).find(fits);
    nodes()
        .filter(|node| Some(node.op_type.as_str()) == operator)
        .map(NodeId::of)
        .collect()
}
