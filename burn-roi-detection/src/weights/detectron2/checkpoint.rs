//! A checkpoint of detectron2.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use burn::tensor::{TensorData, bf16, f16};

use super::error::CheckpointError;
use super::pickle::{self, Array, ElementType, Heap, Value};

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
    /// Reads a `.pkl` file of detectron2's model zoo.
    ///
    /// # Errors
    ///
    /// The file can't be read, is no pickle of protocol 2 to 5 with an entry `model`, names anything of Python other
    /// than NumPy's arrays, or has a weight that is no little-endian array of float16, float32, float64, int32, int64 or
    /// `ml_dtypes.bfloat16`.
    pub fn read_pkl(path: &Path) -> Result<Self, CheckpointError> {
        let bytes = fs::read(path).map_err(|error| CheckpointError::File {
            reason: error.to_string(),
        })?;
        Self::from_pkl(&bytes)
    }

    /// Reads the bytes of a `.pkl` file, as [`read_pkl`](Self::read_pkl) does.
    ///
    /// # Errors
    ///
    /// As [`read_pkl`](Self::read_pkl).
    pub fn from_pkl(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let (root, heap) = pickle::read(bytes)?;
        let entries = heap.entries(root).ok_or_else(|| no_model(root.kind()))?;
        let entry = |key: &str| {
            entries
                .iter()
                .rev()
                .find(|(name, _)| matches!(name, Value::Text(name) if *name == key))
        };
        let (_, model) = entry("model").ok_or_else(|| no_model("a dictionary without one"))?;
        let model = heap
            .entries(*model)
            .ok_or_else(|| no_model("a dictionary whose `model` is none"))?;
        Ok(Self {
            author: match entry("__author__") {
                Some((_, Value::Text(author))) => Some(author.to_string()),
                _ => None,
            },
            matching_heuristics: matches!(entry("matching_heuristics"), Some((_, Value::Bool(true)))),
            tensors: tensors(model, &heap, bytes.len().saturating_mul(2))?,
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
        if tensors.insert(name.to_string(), data(array)).is_some() {
            return Err(CheckpointError::Twice { name: name.to_string() });
        }
    }
    Ok(tensors)
}

fn data(array: &Array<'_>) -> TensorData {
    let bytes = array.to_bytes();
    let shape = array.shape.clone();
    // Not as bytes: a tensor's memory is aligned to its dtype.
    match array.element_type {
        ElementType::Float16 => TensorData::new(elements(&bytes, f16::from_le_bytes), shape),
        ElementType::Bfloat16 => TensorData::new(elements(&bytes, bf16::from_le_bytes), shape),
        ElementType::Float32 => TensorData::new(elements(&bytes, f32::from_le_bytes), shape),
        ElementType::Float64 => TensorData::new(elements(&bytes, f64::from_le_bytes), shape),
        ElementType::Int32 => TensorData::new(elements(&bytes, i32::from_le_bytes), shape),
        ElementType::Int64 => TensorData::new(elements(&bytes, i64::from_le_bytes), shape),
    }
}

fn elements<Element, const N: usize>(bytes: &[u8], of_bytes: fn([u8; N]) -> Element) -> Vec<Element> {
    let (elements, _) = bytes.as_chunks();
    elements.iter().map(|&element| of_bytes(element)).collect()
}
