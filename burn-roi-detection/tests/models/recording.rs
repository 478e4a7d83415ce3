//! The recordings that `record.py` makes of torchvision's detectors, and `record_mayaku.py` and `record_vitdet.py` of
//! detectron2's.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::{env, fs};

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_roi_detection::models::{DetectorConfig, Picture};
use burn_roi_detection::weights::StateDict;
use burn_roi_detection::weights::detectron2::{config_from_yaml, named};
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;

/// The recording of one model.
pub struct Recording {
    pub name: String,
    metadata: Value,
    tensors: HashMap<String, TensorData>,
}

/// A recorded tensor: its shape, and every n-th element.
pub struct Recorded<'a> {
    pub shape: Vec<usize>,
    pub step: usize,
    pub values: &'a TensorData,
}

/// The recordings in the folder that an environment variable names, each with the folder. None if the variable is not
/// set.
pub fn of_folder(variable: &str) -> Vec<(PathBuf, Recording)> {
    let Some(folder) = env::var_os(variable).map(PathBuf::from) else {
        return Vec::new();
    };
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|ending| ending == "safetensors"));
    let recordings: Vec<Recording> = files.flat_map(|file| read(&fs::read(&file).unwrap())).collect();
    assert!(!recordings.is_empty(), "there is no recording in {}", folder.display());
    recordings
        .into_iter()
        .map(|recording| (folder.clone(), recording))
        .collect()
}

/// The recordings of a file, one for each model.
pub fn read(bytes: &[u8]) -> Vec<Recording> {
    let (_, header) = SafeTensors::read_metadata(bytes).expect("the file should have a header");
    let metadata = header.metadata().as_ref().expect("there should be metadata");
    let metadata: Value = serde_json::from_str(&metadata["metadata"]).expect("the metadata should be JSON");
    let models = metadata["models"].as_object().expect("there should be models");
    let file = SafeTensors::deserialize(bytes).expect("the file should be whole");
    let tensors = file.tensors();
    let of_model = |name: &String, metadata: &Value| {
        let own = tensors.iter().filter_map(|(key, view)| {
            let (model, tensor) = key.split_once('/')?;
            let tensor = match model {
                "pictures" => format!("pictures.{tensor}"),
                model if model == name => tensor.to_string(),
                _ => return None,
            };
            let dtype = match view.dtype() {
                Dtype::F32 => DType::F32,
                Dtype::F16 => DType::F16,
                Dtype::I64 => DType::I64,
                Dtype::I32 => DType::I32,
                Dtype::U8 => DType::U8,
                dtype => panic!("{key} is of dtype {dtype:?}"),
            };
            let data = TensorData::from_bytes_vec(view.data().to_vec(), view.shape().to_vec(), dtype);
            Some((tensor, data))
        });
        Recording {
            name: name.clone(),
            metadata: metadata.clone(),
            tensors: own.collect(),
        }
    };
    models.iter().map(|(name, metadata)| of_model(name, metadata)).collect()
}

impl Recording {
    /// The config of detectron2 that the recording has, or that of a published model of detectron2 or torchvision, with
    /// what the recorded model has otherwise.
    pub fn config(&self) -> DetectorConfig {
        if let Some(text) = self.metadata["config"].as_str() {
            return config_from_yaml(text).expect("a config of detectron2");
        }
        let config = match self.metadata["model"].as_str() {
            Some(name) => named(name),
            None => DetectorConfig::named(&self.name),
        };
        let config = config.expect("a model of detectron2 or torchvision");
        let mut config = serde_json::to_value(config).expect("a config is JSON");
        merge(&mut config, &self.metadata["changes"]);
        serde_json::from_value(config).expect("the changes should be those of a config")
    }

    /// The weights, if the file has them.
    pub fn weights(&self) -> Option<StateDict> {
        let weights = self.tensors.iter().filter_map(|(name, data)| {
            let name = name.strip_prefix("weights.")?;
            Some((name.to_string(), data.clone()))
        });
        let tensors: BTreeMap<_, _> = weights.collect();
        (!tensors.is_empty()).then_some(StateDict { tensors })
    }

    /// The pixels of the pictures, as bytes.
    pub fn pixels(&self) -> Vec<([usize; 2], Vec<u8>)> {
        let pictures = (0..2).map(|image| {
            let data = &self.tensors[&format!("pictures.{image}")];
            let size = [data.shape()[0], data.shape()[1]];
            (size, data.clone().try_to_vec().expect("bytes"))
        });
        pictures.collect()
    }

    pub fn tensor(&self, name: &str) -> Recorded<'_> {
        let values = self.tensors.get(name);
        let values = values.unwrap_or_else(|| panic!("{} has no {name}", self.name));
        let shape: Vec<usize> = serde_json::from_value(self.metadata["shapes"][name].clone()).expect("a shape");
        let step = self.metadata["steps"][name].as_u64().expect("a step") as usize;
        Recorded { shape, step, values }
    }

    pub fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// A tensor that is recorded whole, as numbers.
    pub fn values(&self, name: &str) -> Vec<f64> {
        let recorded = self.tensor(name);
        assert_eq!(recorded.step, 1, "{name} should be recorded whole");
        recorded.values.iter::<f64>().collect()
    }

    /// The boxes `[K, 4]` of each of the two images.
    pub fn boxes(&self, name: &str, device: &Device) -> Vec<Tensor<2>> {
        let boxes = (0..2).map(|image| {
            let values: Vec<f32> = self
                .values(&format!("{name}.{image}"))
                .into_iter()
                .map(|value| value as f32)
                .collect();
            let count = values.len() / 4;
            Tensor::from_data(TensorData::new(values, [count, 4]), device)
        });
        boxes.collect()
    }
}

/// Pictures that borrow the bytes.
pub fn pictures(pixels: &[([usize; 2], Vec<u8>)]) -> Vec<Picture<'_>> {
    pixels
        .iter()
        .map(|(size, bytes)| Picture::from_rgb(*size, bytes))
        .collect()
}

/// Puts values of JSON objects in place of others, field by field.
fn merge(value: &mut Value, changes: &Value) {
    match (value, changes) {
        (Value::Object(value), Value::Object(changes)) => {
            for (field, change) in changes {
                merge(value.entry(field.clone()).or_insert(Value::Null), change);
            }
        }
        (value, changes) => *value = changes.clone(),
    }
}
