//! Writes the rewritten model where the build script's other files are, and checks that burn-onnx takes it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use burn_onnx::ext::{ArgType, CustomNode, CustomOp, Node, ProcessError};
use onnx_ir::{CustomOpInference, HookCoverage, MissingReason, ModelProto, OnnxGraphBuilder};

use super::{Settings, encode, read, rewrite};
use crate::error::Error;
use crate::hook::{Hook, check_inputs};
use crate::operators::{self, DOMAIN};
use crate::own;
use crate::suppression;

/// The folder of `OUT_DIR` with the rewritten models.
pub(crate) const FOLDER: &str = "burn_roi_onnx";

/// Rewrites the model in a file. Returns the path of the rewritten one, which has the name `name` or that of the file.
pub(crate) fn to_build_folder(path: &Path, name: Option<&str>, settings: &Settings) -> Result<String, Error> {
    let folder = env::var_os("OUT_DIR").ok_or(Error::NoBuildScript)?;
    let refuse = |reason| Error::Path {
        path: path.to_path_buf(),
        reason,
    };
    let own = path.file_name().ok_or_else(|| refuse("names no file"))?;
    let name = match name {
        Some(name) if name.contains(['/', '\\']) => return Err(refuse("has a name for its code that is a path")),
        Some(name) => OsString::from(format!("{name}.onnx")),
        None => own.to_os_string(),
    };
    let bytes = fs::read(path).map_err(|error| Error::Read {
        path: path.to_path_buf(),
        error,
    })?;
    let source = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let (mut model, files) = read::read(&bytes, Some(source.unwrap_or(Path::new("."))))?;
    for file in files.iter().map(PathBuf::as_path).chain([path]) {
        println!("cargo:rerun-if-changed={}", file.display());
    }
    rewrite(&mut model, settings)?;

    let folder = Path::new(&folder).join(FOLDER);
    let prepared = folder.join(name);
    let write = |error| Error::Write {
        path: prepared.clone(),
        error,
    };
    fs::create_dir_all(&folder).map_err(write)?;
    fs::write(&prepared, encode(&model)?).map_err(write)?;
    try_import(&model, &prepared)?;
    let text = prepared
        .to_str()
        .ok_or_else(|| refuse("leads to a folder whose name is not UTF-8"))?;
    Ok(text.to_string())
}

/// Reads the rewritten model as burn-onnx will, so that what it refuses is an error and not a panic. A model with
/// operators that other hooks cover is left to burn-onnx.
fn try_import(model: &ModelProto, path: &Path) -> Result<(), Error> {
    let mut nodes = model.graph.iter().flat_map(|graph| &graph.node);
    let foreign = |domain: &str| !read::is_default(domain) && !operators::all().any(|known| known.domain == domain);
    if nodes.any(|node| foreign(&node.domain)) {
        return Ok(());
    }
    let read = || {
        OnnxGraphBuilder::new()
            .with_custom_op_inference(Arc::new(Inference))
            .parse_file(path)
    };
    let graph = match catch_unwind(AssertUnwindSafe(read)) {
        Ok(result) => result.map_err(|error| Error::Import(error.to_string()))?,
        Err(panic) => return Err(Error::Import(text_of(&panic))),
    };
    for node in &graph.nodes {
        let Node::Custom(node) = node else {
            continue;
        };
        if let Some(operator) = operators::find(&node.domain, &node.op_type) {
            check_inputs(operator, node)?;
        } else if node.domain == DOMAIN && node.op_type == suppression::NAME {
            suppression::check_inputs(node)?;
        }
    }
    Ok(())
}

/// The text of a panic.
pub(crate) fn text_of(panic: &Box<dyn std::any::Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("it panicked")
        .to_string()
}

/// The types of the region operators' outputs, for onnx-ir.
struct Inference;

impl CustomOpInference for Inference {
    fn coverage(&self, name: &str, domain: &str, version: usize) -> HookCoverage {
        match operators::find(domain, name) {
            None if own::find(domain, name).is_some() => HookCoverage::Covered,
            None => HookCoverage::Missing(MissingReason::NoHook),
            Some(operator) if operator.versions.contains(&version) => HookCoverage::Covered,
            Some(operator) => HookCoverage::Missing(MissingReason::OpsetMismatch {
                supported: Hook(operator).opset_range(),
            }),
        }
    }

    fn infer(&self, node: &CustomNode) -> Result<Option<Vec<ArgType>>, ProcessError> {
        if let Some(operator) = own::find(&node.domain, &node.op_type) {
            return operator.output_types(node).map(Some);
        }
        let operator = operators::find(&node.domain, &node.op_type);
        operator
            .map(|operator| Hook(operator).infer_output_types(node))
            .transpose()
    }
}
