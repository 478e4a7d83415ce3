//! A checkpoint of detectron2.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use burn::tensor::TensorData;

use super::caffe2;
use super::error::CheckpointError;
use crate::weights::pickle::{self, Heap, Names, Value};
use crate::weights::torch_file::TorchFile;

/// Who wrote a file without an entry `model`, in detectron2's words.
const CAFFE2: &str = "Caffe2";

/// The weights of a checkpoint of detectron2, by detectron2's names.
///
/// A file is data: nothing that it names is looked up or called. A file that is damaged or hostile is an error, and
/// takes no more time and memory than a right one of its size.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// Who wrote it, such as `Detectron2 Model Zoo`, if the file says so.
    pub author: Option<String>,
    /// True if the names are parts of detectron2's names, as in files with weights of a body only.
    pub matching_heuristics: bool,
    /// The weights, such as `backbone.bottom_up.res2.0.conv1.weight` of shape `[64, 64, 1, 1]`, with the file's dtypes.
    pub tensors: BTreeMap<String, TensorData>,
}

impl Checkpoint {
    /// Reads a file: a `.pkl` of detectron2's model zoo or of a classifier, or a `.pth` that detectron2 wrote in
    /// training, with an optimizer and other parts beside the weights.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Read`], which names the file. Its source is one of:
    ///
    /// - [`CheckpointError::File`]: the file can't be read.
    /// - [`CheckpointError::Ending`]: its name ends otherwise.
    /// - The errors of [`from_pkl`](Self::from_pkl) or [`from_pth`](Self::from_pth).
    pub fn read(path: impl AsRef<Path>) -> Result<Self, CheckpointError> {
        let path = path.as_ref();
        Self::read_file(path).map_err(|source| CheckpointError::Read {
            path: path.to_owned(),
            source: Box::new(source),
        })
    }

    fn read_file(path: &Path) -> Result<Self, CheckpointError> {
        let file = |error: io::Error| CheckpointError::File {
            reason: error.to_string(),
        };
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("pkl") => Self::from_pkl(&fs::read(path).map_err(file)?),
            Some("pth") => Self::from_pth(&fs::read(path).map_err(file)?),
            _ => Err(CheckpointError::Ending),
        }
    }

    /// Reads the bytes of a `.pth` file.
    ///
    /// # Errors
    ///
    /// They are no checkpoint of torch with an entry `model`.
    pub fn from_pth(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let tensors = TorchFile::parse(bytes).and_then(|file| file.tensors(Some("model")));
        let tensors =
            tensors.and_then(|tensors| tensors.ok_or_else(|| "it has no entry `model` of tensors".to_string()));
        Ok(Self {
            author: None,
            matching_heuristics: false,
            tensors: tensors.map_err(|reason| CheckpointError::PyTorch { reason })?,
        })
    }

    /// Reads the bytes of a `.pkl` file. A dictionary of arrays without an entry `model` is a file of Caffe2, as
    /// detectron2's `R-50.pkl` of an ImageNet classifier is. Caffe2's names of a ResNet become detectron2's:
    /// `res2_0_branch2a_bn_gamma` is `res2.0.conv1.norm.weight`.
    ///
    /// # Errors
    ///
    /// They are no pickle of protocol 2 to 5 with weights, name anything of Python other than NumPy's arrays, or have a
    /// weight that is no little-endian array of float16, float32, float64, int32, int64 or `ml_dtypes.bfloat16`.
    pub fn from_pkl(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let (root, heap, _) = pickle::read(bytes, Names::NumPy)?;
        let entries = heap.entries(root).ok_or_else(|| no_model(root.kind()))?;
        let entry = |key: &str| heap.entry(root, key);
        let is_of_arrays = || !entries.is_empty() && entries.iter().all(|(_, value)| heap.array(*value).is_some());
        let (model, author) = match (entry("model"), entry("__author__")) {
            (Some(model), author) => {
                let model = heap.entries(model);
                let model = model.ok_or_else(|| no_model("a dictionary whose `model` is none"))?;
                (model, author)
            }
            (None, _) if is_of_arrays() => (entries, Some(Value::Text(CAFFE2))),
            (None, _) => return Err(no_model("a dictionary without one")),
        };
        let author = match author {
            Some(Value::Text(author)) => Some(author.to_string()),
            _ => None,
        };
        let mut tensors = tensors(model, &heap, bytes.len().saturating_mul(2))?;
        let is_of_caffe2 = author.as_deref() == Some(CAFFE2);
        if is_of_caffe2 {
            tensors = caffe2::renamed(tensors)?;
        }
        Ok(Self {
            author,
            matching_heuristics: is_of_caffe2 || matches!(entry("matching_heuristics"), Some(Value::Bool(true))),
            tensors,
        })
    }
}

fn no_model(found: &str) -> CheckpointError {
    CheckpointError::NoModel {
        found: found.to_string(),
    }
}

/// The arrays of a dictionary, which have `limit` bytes at most.
fn tensors<'a>(
    model: &[(Value<'a>, Value<'a>)],
    heap: &Heap<'a>,
    limit: usize,
) -> Result<BTreeMap<String, TensorData>, CheckpointError> {
    let mut tensors = BTreeMap::new();
    // One array can be in the dictionary many times.
    let mut spent: usize = 0;
    for &(name, value) in model {
        let Value::Text(name) = name else {
            return Err(CheckpointError::Name { found: name.kind() });
        };
        let array = heap.array(value).ok_or_else(|| CheckpointError::NoArray {
            name: name.to_string(),
            found: value.kind(),
        })?;
        spent = spent.saturating_add(name.len()).saturating_add(array.length);
        if spent > limit {
            return Err(CheckpointError::Shared { limit });
        }
        if tensors.insert(name.to_string(), array.to_data()).is_some() {
            return Err(CheckpointError::Twice { name: name.to_string() });
        }
    }
    Ok(tensors)
}
