//! Conformance cases: one file each, safetensors, with the operator and its attributes as metadata.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use safetensors::{Dtype, SafeTensors};
use serde_json::{Map, Value};

/// A call that a framework has computed.
pub struct Case {
    pub name: String,
    pub operator: String,
    pub attributes: Map<String, Value>,
    /// Absolute below 1, relative above; 0 means equal.
    pub tolerance: f64,
    tensors: HashMap<String, TensorData>,
}

impl Case {
    /// Reads a case file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let bytes = fs::read(path).map_err(|error| error.to_string())?;
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|error| error.to_string())?;
        let metadata = header.metadata().as_ref().ok_or("there is no metadata")?;
        let field = |name: &str| {
            metadata
                .get(name)
                .ok_or(format!("there is no {name:?} in the metadata"))
        };
        let attributes = serde_json::from_str(field("attrs")?).map_err(|error| error.to_string())?;
        let tolerance = field("tolerance")?.parse().map_err(|_| "the tolerance is no number")?;

        let file = SafeTensors::deserialize(&bytes).map_err(|error| error.to_string())?;
        let mut tensors = HashMap::new();
        for (name, view) in file.tensors() {
            let dtype = match view.dtype() {
                Dtype::F64 => DType::F64,
                Dtype::F32 => DType::F32,
                Dtype::F16 => DType::F16,
                Dtype::BF16 => DType::BF16,
                Dtype::I64 => DType::I64,
                dtype => return Err(format!("{name} is of dtype {dtype:?}")),
            };
            let data = TensorData::from_bytes_vec(view.data().to_vec(), view.shape().to_vec(), dtype);
            // Maps of a pyramid have two names: `input_0`, `input_1`, … are `input`, `input.1`, … too.
            let name = match name.strip_prefix("input_") {
                Some("0") => "input".to_string(),
                Some(level) => format!("input.{level}"),
                None => name,
            };
            tensors.insert(name, data);
        }
        Ok(Self {
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            operator: field("op")?.clone(),
            attributes,
            tolerance,
            tensors,
        })
    }

    /// The dtype of the features, or of the boxes where an operator takes boxes only.
    pub fn dtype(&self) -> Result<DType, String> {
        Ok(self.data("input").or(self.data("boxes1"))?.dtype())
    }

    /// A float tensor of the case.
    pub fn tensor<const D: usize>(&self, name: &str, device: &Device) -> Result<Tensor<D>, String> {
        let data = self.data(name)?;
        if data.shape().len() != D {
            return Err(format!("{name} has shape {:?}", data.shape()));
        }
        Ok(Tensor::from_data(data.clone(), (device, data.dtype())))
    }

    /// The maps of a pyramid, from the finest to the coarsest: `input`, `input.1`, …
    pub fn pyramid(&self, device: &Device) -> Result<Vec<Tensor<4>>, String> {
        let names = (1..).map(|level| format!("input.{level}"));
        let further = names.take_while(|name| self.tensors.contains_key(name));
        std::iter::once("input".to_string())
            .chain(further)
            .map(|name| self.tensor(&name, device))
            .collect()
    }

    /// The batch indices, as the device's own integers.
    pub fn batch_indices(&self, device: &Device) -> Result<Tensor<1, Int>, String> {
        let data = self.data("batch_indices")?;
        let indices: Vec<i32> = data.iter::<i32>().collect();
        let count = indices.len();
        Ok(Tensor::from_data(TensorData::new(indices, [count]), device))
    }

    /// A tensor of the case as it is in the file.
    pub fn data(&self, name: &str) -> Result<&TensorData, String> {
        self.tensors.get(name).ok_or(format!("there is no tensor {name:?}"))
    }
}

/// All case files below a folder, by name; the error names what cannot be read.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error: std::io::Error| format!("cannot read the folder {}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            files.extend(self::files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "safetensors") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
