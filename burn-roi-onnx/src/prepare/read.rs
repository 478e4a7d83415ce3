//! Reads a model: the protobuf, the versions of its operator sets, and the data that lies in other files.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use onnx_ir::{GraphProto, Message, ModelProto, TensorProto};

use super::attribute::graphs_mut;
use super::tensor::element_size;
use crate::error::{Error, NodeId};
use crate::operators::{DOMAIN, NEWEST_VERSION};

/// The largest protobuf, with a margin for what the rewriting adds.
const MAXIMUM_BYTES: u64 = (1 << 31) - (1 << 24);

/// Parses a model. `folder` is where its external data lies; without one there must be none. Returns the files that
/// external data was read from as well.
pub(super) fn read(bytes: &[u8], folder: Option<&Path>) -> Result<(ModelProto, Vec<PathBuf>), Error> {
    let mut model = ModelProto::parse_from_bytes(bytes).map_err(|error| Error::Protobuf(error.to_string()))?;
    check_versions(&model)?;
    let mut external = External {
        folder,
        total: bytes.len() as u64,
        files: Vec::new(),
    };
    match model.graph.as_mut() {
        Some(graph) => external.graph(graph)?,
        None => return Err(Error::Protobuf("it has no graph".to_string())),
    }
    if !model.functions.is_empty() {
        let reason = "has functions, which burn-onnx does not read: export the model with its functions inlined";
        return Err(Error::Graph(reason.to_string()));
    }
    Ok((model, external.files))
}

/// Whether a name is that of the default operator set.
pub(super) fn is_default(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

/// The version of an operator set that a model imports.
pub(super) fn version(model: &ModelProto, domain: &str) -> Option<i64> {
    let same = |imported: &str| imported == domain || (is_default(imported) && is_default(domain));
    let import = model.opset_import.iter().find(|import| same(&import.domain))?;
    Some(import.version)
}

fn check_versions(model: &ModelProto) -> Result<(), Error> {
    let newest = NEWEST_VERSION as i64;
    let default = version(model, "").unwrap_or(0);
    if !(1..=newest).contains(&default) {
        return Err(Error::Opset {
            domain: String::new(),
            version: default,
            expected: format!("1 to {newest}"),
        });
    }
    for import in &model.opset_import {
        let (domain, number) = (&import.domain, import.version);
        if number < 1 {
            return Err(Error::Opset {
                domain: domain.clone(),
                version: number,
                expected: "at least 1".to_string(),
            });
        }
        // Which of two versions counts would be a guess.
        match version(model, domain) {
            Some(first) if first != number => {
                return Err(Error::Opset {
                    domain: domain.clone(),
                    version: number,
                    expected: format!("{first}, which the model imports as well"),
                });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Tensors whose data lies in other files.
struct External<'a> {
    folder: Option<&'a Path>,
    /// The bytes of the model with the data read so far.
    total: u64,
    files: Vec<PathBuf>,
}

impl External<'_> {
    fn graph(&mut self, graph: &mut GraphProto) -> Result<(), Error> {
        for tensor in &mut graph.initializer {
            self.tensor(tensor)?;
        }
        for node in &mut graph.node {
            if node.domain == DOMAIN {
                return Err(Error::Node {
                    node: Box::new(NodeId::of(node)),
                    reason: format!("the operator set {DOMAIN} is reserved: a model may not have nodes of it"),
                });
            }
            for attribute in &mut node.attribute {
                for tensor in attribute.t.as_mut().into_iter().chain(&mut attribute.tensors) {
                    self.tensor(tensor)?;
                }
            }
            for body in graphs_mut(node) {
                self.graph(body)?;
            }
        }
        Ok(())
    }

    /// Reads the data of a tensor into the tensor.
    fn tensor(&mut self, tensor: &mut TensorProto) -> Result<(), Error> {
        let bytes = bytes_of(tensor)?;
        if tensor.external_data.is_empty() {
            return Ok(());
        }
        let entry = |key: &str| {
            let entry = tensor.external_data.iter().find(|entry| entry.key == key);
            entry.map_or("", |entry| entry.value.as_str())
        };
        let location = entry("location").to_string();
        let refuse = |reason: String| Error::ExternalData {
            tensor: tensor.name.clone(),
            location: location.clone(),
            reason,
        };
        let number = |key: &str, default: u64| match entry(key) {
            "" => Ok(default),
            text => text
                .parse()
                .map_err(|_| refuse(format!("its {key} is {text:?}; it must be a number of bytes"))),
        };
        let (offset, length) = (number("offset", 0)?, number("length", bytes)?);
        if length != bytes {
            return Err(refuse(format!(
                "it has {length} bytes; the tensor's sizes and type need {bytes}"
            )));
        }
        self.total = self.total.saturating_add(bytes);
        if self.total > MAXIMUM_BYTES {
            return Err(Error::TooLarge {
                bytes: self.total,
                limit: MAXIMUM_BYTES,
            });
        }
        let path = self.path(&location).map_err(refuse)?;
        let data = range(&path, offset, bytes).map_err(refuse)?;
        tensor.raw_data = data.into();
        tensor.external_data.clear();
        tensor.data_location = Default::default();
        if !self.files.contains(&path) {
            self.files.push(path);
        }
        Ok(())
    }

    /// The file of a location, which must lie in the model's folder.
    fn path(&self, location: &str) -> Result<PathBuf, String> {
        let folder = self
            .folder
            .ok_or("the model was read from memory, so that there is no folder of it")?;
        let inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
        if location.is_empty() || !Path::new(location).components().all(inside) {
            return Err("it must be a path in the folder of the model".to_string());
        }
        let path = folder.join(location);
        let real = |path: &Path| {
            path.canonicalize()
                .map_err(|error| format!("cannot find {}: {error}", path.display()))
        };
        if real(&path)?.starts_with(real(folder)?) {
            Ok(path)
        } else {
            Err("it is a link out of the folder of the model".to_string())
        }
    }
}

/// The bytes that a tensor's sizes and type need.
fn bytes_of(tensor: &TensorProto) -> Result<u64, Error> {
    let sizes = tensor.dims.iter().map(|&size| u64::try_from(size).ok());
    let wrong = |reason: &str| Error::Tensor {
        tensor: tensor.name.clone(),
        reason: format!("its sizes are {:?}, {reason}", tensor.dims),
    };
    let sizes: Vec<_> = sizes
        .collect::<Option<_>>()
        .ok_or_else(|| wrong("of which none may be negative"))?;
    let elements = sizes.iter().try_fold(1u64, |all, &size| all.checked_mul(size));
    let bytes = elements.and_then(|elements| elements.checked_mul(element_size(tensor).ok()?));
    // A type that burn-onnx does not read is an error where the tensor is used.
    if element_size(tensor).is_err() && tensor.external_data.is_empty() {
        return Ok(0);
    }
    element_size(tensor)?;
    bytes.ok_or_else(|| wrong("which is too many"))
}

/// So many bytes of a file, from an offset on.
fn range(path: &Path, offset: u64, bytes: u64) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let end = offset.checked_add(bytes);
    if !metadata.is_file() || end.is_none_or(|end| end > metadata.len()) {
        return Err(format!(
            "it is {bytes} bytes from byte {offset} on, of a file of {} bytes",
            metadata.len()
        ));
    }
    let mut data = Vec::new();
    file.seek(SeekFrom::Start(offset)).map_err(failed)?;
    file.take(bytes).read_to_end(&mut data).map_err(failed)?;
    Ok(data)
}
