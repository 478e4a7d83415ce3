//! A recording of torchvision's layers for one picture, as `train/record.py` writes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use burn::tensor::{DType, TensorData};
use burn_roi_detection::models::{BodyConfig, DetectorConfig};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::error::Error;

pub struct Recording {
    path: PathBuf,
    tensors: BTreeMap<String, Recorded>,
    /// The settings that the recording was made with.
    settings: BTreeMap<String, String>,
}

pub struct Recorded {
    pub shape: Vec<usize>,
    pub values: Vec<f32>,
}

impl Recording {
    pub fn read(path: &Path) -> Result<Self, Error> {
        let failed = |reason: String| Error::ReadRecording {
            path: path.to_owned(),
            reason,
        };
        let bytes = fs::read(path).map_err(|error| failed(error.to_string()))?;
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|error| failed(error.to_string()))?;
        let file = SafeTensors::deserialize(&bytes).map_err(|error| failed(error.to_string()))?;
        let tensors = file.iter().map(|(name, view)| {
            let recorded = recorded(&view).map_err(|reason| failed(format!("{name}: {reason}")))?;
            Ok((name.to_string(), recorded))
        });
        Ok(Self {
            path: path.to_owned(),
            tensors: tensors.collect::<Result<_, Error>>()?,
            settings: header.metadata().clone().unwrap_or_default().into_iter().collect(),
        })
    }

    /// The configuration, with the recording's settings in place of its own.
    pub fn config(&self, mut config: DetectorConfig) -> DetectorConfig {
        if let Some(min_size) = self.setting("min_size") {
            config.preprocessing.min_size = min_size;
        }
        if let Some(max_size) = self.setting("max_size") {
            config.preprocessing.max_size = max_size;
        }
        if let Some(epsilon) = self.setting("batch_norm_epsilon")
            && let BodyConfig::ResNet(body) = &mut config.body
        {
            body.batch_norm_epsilon = epsilon;
        }
        config
    }

    /// A setting that the recording was made with.
    pub fn setting<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.settings.get(name).and_then(|value| value.parse().ok())
    }

    pub fn tensor(&self, name: &str) -> Result<&Recorded, Error> {
        self.tensors
            .get(name)
            .ok_or_else(|| self.wrong(format!("it has no {name}")))
    }

    /// A tensor `[K, 4]` as boxes.
    pub fn boxes(&self, name: &str) -> Result<Vec<[f32; 4]>, Error> {
        let tensor = self.tensor(name)?;
        match tensor.shape[..] {
            [_, 4] => Ok(tensor.values.as_chunks().0.to_vec()),
            _ => Err(self.wrong(format!("{name} is {:?} and not boxes", tensor.shape))),
        }
    }

    pub fn wrong(&self, reason: String) -> Error {
        Error::ReadRecording {
            path: self.path.clone(),
            reason,
        }
    }
}

fn recorded(view: &TensorView<'_>) -> Result<Recorded, String> {
    let dtype = match view.dtype() {
        Dtype::F32 => DType::F32,
        Dtype::F16 => DType::F16,
        Dtype::I64 => DType::I64,
        Dtype::U8 => DType::U8,
        other => return Err(format!("recordings have no tensors of {other:?}")),
    };
    let data = TensorData::from_bytes_vec(view.data().to_vec(), view.shape().to_vec(), dtype);
    Ok(Recorded {
        shape: view.shape().to_vec(),
        values: data.iter::<f32>().collect(),
    })
}
