//! Reads the data of tensors that is in other files.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use onnx_ir::{GraphProto, TensorProto};

use super::node::graphs_mut;
use super::opset::DOMAIN;
use crate::error::{Error, NodeId};

/// The largest protobuf, 2 GiB, with a margin for what the rewriting adds.
const MAXIMUM_BYTES: u64 = (1 << 31) - (1 << 24);

/// Reads the external data of a graph's tensors from `folder`. `bytes` is the size of the model without it. Returns the
/// files.
pub(super) fn read(graph: &mut GraphProto, folder: Option<&Path>, bytes: u64) -> Result<Vec<PathBuf>, Error> {
    let mut external = External {
        folder,
        total: bytes,
        files: Vec::new(),
    };
    external.graph(graph)?;
    Ok(external.files)
}

struct External<'a> {
    folder: Option<&'a Path>,
    /// The size of the model with the data read so far, in bytes.
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

    /// The file at a location. It must lie in the model's folder.
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
    // burn-onnx refuses other element types itself, if a node uses the tensor.
    if element_size(tensor).is_err() && tensor.external_data.is_empty() {
        return Ok(0);
    }
    element_size(tensor)?;
    bytes.ok_or_else(|| wrong("which is too many"))
}

/// `bytes` bytes of a file, from `offset` on.
fn range(path: &Path, offset: u64, bytes: u64) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    // Before it is opened: opening a pipe waits for who writes into it.
    let metadata = path.metadata().map_err(failed)?;
    let end = offset.checked_add(bytes);
    if !metadata.is_file() || end.is_none_or(|end| end > metadata.len()) {
        return Err(format!(
            "it is {bytes} bytes from byte {offset} on, of a file of {} bytes",
            metadata.len()
        ));
    }
    let mut data = Vec::new();
    let mut file = File::open(path).map_err(failed)?;
    file.seek(SeekFrom::Start(offset)).map_err(failed)?;
    file.take(bytes).read_to_end(&mut data).map_err(failed)?;
    Ok(data)
}

/// The size of an element in bytes.
fn element_size(proto: &TensorProto) -> Result<u64, Error> {
    match proto.data_type {
        2 | 3 | 9 => Ok(1),
        4 | 5 | 10 | 16 => Ok(2),
        1 | 6 | 12 => Ok(4),
        7 | 11 | 13 => Ok(8),
        other => Err(Error::Tensor {
            tensor: proto.name.clone(),
            reason: format!("its element type is number {other}, which burn-onnx does not read"),
        }),
    }
}
