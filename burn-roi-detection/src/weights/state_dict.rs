//! [`StateDict`]: weights by name, read from a file and written to one.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use burn::tensor::{DType, TensorData};
use burn_store::{ModuleStore, SafetensorsStore, bridge};
use safetensors::Dtype;
use safetensors::tensor::TensorView;

use super::detectron2::Checkpoint;
use super::error::WeightsError;
use super::torch_file::TorchFile;
use super::write_whole::write_whole;

/// The entries in which a training's checkpoint has its weights, beside the optimizer and others: that of torchvision's
/// reference scripts and of detectron2, and that of mmdetection and Lightning. Without one, the file is the weights.
const WEIGHTS_OF_CHECKPOINTS: [Option<&str>; 3] = [Some("model"), Some("state_dict"), None];

/// Weights by name, in the layout of a framework's files: torch's `state_dict`.
///
/// A linear layer's weight is `[out_features, in_features]`, as in torch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StateDict {
    /// The tensors by name.
    pub tensors: BTreeMap<String, TensorData>,
}

impl StateDict {
    /// The tensors that are weights. Each norm of torch has a counter, and the rest of detectron2's follows from the
    /// config.
    pub(super) fn of_weights(mut tensors: BTreeMap<String, TensorData>) -> Self {
        let is_weight = |name: &str| {
            !name.ends_with(".num_batches_tracked")
                && !name.contains("anchor_generator.cell_anchors")
                && !matches!(name, "pixel_mean" | "pixel_std")
        };
        tensors.retain(|name, _| is_weight(name));
        Self { tensors }
    }

    /// Reads a file: torch's `.pth` or `.pt`, `.safetensors`, or detectron2's `.pkl`. The whole file is read at once,
    /// so that a damaged file returns an error before a model changes. Of a training's checkpoint, which has a state
    /// dict as its entry `model` or `state_dict`, that entry is read. What is no weight is left out: counters of
    /// training, anchors, and the mean and standard deviation of pictures.
    ///
    /// A file is data: nothing that it names is run. A hostile file is an error, and takes no more memory than a right
    /// one of its size: its tensors have at most twice its bytes.
    ///
    /// # Errors
    ///
    /// [`WeightsError::Read`]: the file can't be opened, has another extension, or is not a state dict.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, WeightsError> {
        let path = path.as_ref();
        read(path).map_err(|reason| WeightsError::Read {
            path: path.to_owned(),
            reason,
        })
    }

    /// Reads the bytes of a safetensors file.
    ///
    /// # Errors
    ///
    /// [`WeightsError::Bytes`]: they are not a safetensors file.
    pub fn from_safetensors(bytes: Vec<u8>) -> Result<Self, WeightsError> {
        tensors_of(SafetensorsStore::from_bytes(Some(bytes))).map_err(|reason| WeightsError::Bytes { reason })
    }

    /// Writes a safetensors file. The file is written under another name and then renamed, so that a partial file never
    /// has this name.
    ///
    /// # Errors
    ///
    /// [`WeightsError::Write`]: the file can't be written, or a tensor is of a dtype that is neither a float nor an
    /// integer.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), WeightsError> {
        let path = path.as_ref();
        let bytes = self.to_safetensors();
        let written = bytes.and_then(|bytes| write_whole(path, &bytes).map_err(|error| error.to_string()));
        written.map_err(|reason| WeightsError::Write {
            path: path.to_owned(),
            reason,
        })
    }

    fn to_safetensors(&self) -> Result<Vec<u8>, String> {
        let views = self.tensors.iter().map(|(name, data)| {
            let dtype = dtype(data.dtype()).ok_or_else(|| format!("{name} is of dtype {:?}", data.dtype()))?;
            let view = TensorView::new(dtype, data.shape().to_vec(), data.as_bytes());
            Ok((name, view.map_err(|error| error.to_string())?))
        });
        let views = views.collect::<Result<Vec<_>, String>>()?;
        // As torch's tools expect.
        let metadata = HashMap::from([("format".to_string(), "pt".to_string())]);
        safetensors::serialize(views, Some(metadata)).map_err(|error| error.to_string())
    }
}

impl Checkpoint {
    /// The weights that a model loads: all but counters of training, anchors, and the mean and standard deviation of
    /// pictures, which follow from the config.
    pub fn into_state_dict(self) -> StateDict {
        StateDict::of_weights(self.tensors)
    }
}

fn dtype(dtype: DType) -> Option<Dtype> {
    Some(match dtype {
        DType::F64 => Dtype::F64,
        DType::F32 => Dtype::F32,
        DType::F16 => Dtype::F16,
        DType::BF16 => Dtype::BF16,
        DType::I64 => Dtype::I64,
        DType::I32 => Dtype::I32,
        _ => return None,
    })
}

fn read(path: &Path) -> Result<StateDict, String> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending {
        "safetensors" => {
            // Opened here for a plain message; the store wraps its own in more words.
            fs::File::open(path).map_err(|error| error.to_string())?;
            tensors_of(SafetensorsStore::from_file(path))
        }
        "pth" | "pt" => {
            let bytes = fs::read(path).map_err(|error| error.to_string())?;
            let file = TorchFile::parse(&bytes)?;
            for key in WEIGHTS_OF_CHECKPOINTS {
                if let Some(tensors) = file.tensors(key)? {
                    return Ok(StateDict::of_weights(tensors));
                }
            }
            Err("it has no tensors by name, neither in an entry `model` or `state_dict` nor beside them".to_string())
        }
        "pkl" => {
            let bytes = fs::read(path).map_err(|error| error.to_string())?;
            let checkpoint = Checkpoint::from_pkl(&bytes).map_err(|error| error.to_string())?;
            Ok(checkpoint.into_state_dict())
        }
        _ => Err("its name must end in .pth, .pt, .pkl or .safetensors".to_string()),
    }
}

fn tensors_of<Store: ModuleStore>(mut store: Store) -> Result<StateDict, String> {
    let tensors = store
        .get_all_tensors()
        .map_err(|error| format!("it is damaged, or no state dict: {error}"))?;
    let read = tensors.iter().map(|(name, tensor)| {
        let data = bridge::to_data(tensor).map_err(|error| format!("{name}: {error}"))?;
        Ok((name.clone(), data))
    });
    read.collect::<Result<_, String>>().map(StateDict::of_weights)
}
