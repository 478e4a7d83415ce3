//! Loads torchvision's checkpoints into the model, and writes them.

mod mismatch;
mod names;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use burn::tensor::{DType, TensorData};
use burn_store::burn_pack::Tensor as Stored;
use burn_store::{
    ApplyError, BurnToPyTorchAdapter, FloatCastAdapter, ModuleAdapter, ModuleSnapshot, ModuleStore,
    PyTorchToBurnAdapter, PytorchStore, SafetensorsStore, bridge,
};
use safetensors::Dtype;
use safetensors::tensor::TensorView;

use crate::config::Config;
use crate::error::Error;
use crate::model::MaskRcnn;
use crate::stages::progress_bar;
pub use mismatch::Mismatch;
use mismatch::OtherShape;

/// A counter of training steps that torch saves with each norm. Inference does not need it.
const TRAINING_COUNTER: &str = ".num_batches_tracked";

/// Loads weights into a model. The file must have exactly the model's tensors.
pub fn load(model: &mut MaskRcnn, config: &Config, path: &Path) -> Result<(), Error> {
    fit(model, config, path, read(path))
}

/// Loads weights that are already in memory, the bytes of a safetensors file; errors call it `name`.
pub fn load_bytes(model: &mut MaskRcnn, config: &Config, name: &Path, bytes: Vec<u8>) -> Result<(), Error> {
    let stored = tensors_of(SafetensorsStore::from_bytes(Some(bytes))).and_then(in_memory);
    fit(model, config, name, stored)
}

/// Puts what was read of a file into a model.
fn fit(model: &mut MaskRcnn, config: &Config, path: &Path, stored: Result<Vec<Stored>, String>) -> Result<(), Error> {
    let mismatch = stored.and_then(|stored| apply(model, config, stored));
    let mismatch = mismatch.map_err(|reason| Error::ReadWeights {
        path: path.to_owned(),
        reason,
    })?;
    match mismatch.is_none() {
        true => Ok(()),
        false => Err(Error::OtherModel {
            path: path.to_owned(),
            model: config.name.clone(),
            mismatch: Box::new(mismatch),
        }),
    }
}

/// Writes the weights of a model as safetensors, by the names and in the layout of torchvision.
pub fn save(model: &MaskRcnn, config: &Config, path: &Path) -> Result<(), Error> {
    let state = state_dict(model, config)?;
    let failed = |reason: String| Error::WriteFile {
        path: path.to_owned(),
        reason,
    };
    let views = state.iter().map(|(name, data)| {
        let view = TensorView::new(Dtype::F32, data.shape().to_vec(), data.as_bytes());
        view.map(|view| (name, view))
    });
    let views = views.collect::<Result<Vec<_>, _>>();
    // As torch's tools expect.
    let metadata = HashMap::from([("format".to_string(), "pt".to_string())]);
    let bytes = views.and_then(|views| safetensors::serialize(views, Some(metadata)));
    let bytes = bytes.map_err(|error| failed(error.to_string()))?;
    fs::write(path, bytes).map_err(|error| failed(error.to_string()))
}

/// The weights of a model in f32, by the names and in the layout of torchvision.
pub fn state_dict(model: &MaskRcnn, config: &Config) -> Result<BTreeMap<String, TensorData>, Error> {
    let tensors = model.collect(None, Some(Box::new(BurnToPyTorchAdapter)), true);
    let named = tensors.into_iter().map(|tensor| {
        let name = names::of_checkpoint(&tensor.name, config);
        match bridge::into_data(tensor) {
            Ok(data) => Ok((name, data.convert_dtype(DType::F32))),
            Err(error) => Err(Error::ReadTensor {
                name,
                reason: error.to_string(),
            }),
        }
    });
    named.collect()
}

/// Reads all tensors of a file. They are read before any is applied, so that a truncated file is an error before the
/// model changes.
fn read(path: &Path) -> Result<Vec<Stored>, String> {
    // Opened here for a plain message; the stores wrap theirs in more words.
    fs::File::open(path).map_err(|error| error.to_string())?;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let tensors = match ending {
        "safetensors" => tensors_of(SafetensorsStore::from_file(path)),
        // Indices of torch's `Sequential` have gaps; `names` knows which.
        "pth" | "pt" => tensors_of(PytorchStore::from_file(path).map_indices_contiguous(false)),
        _ => Err("its name must end in .pth, .pt or .safetensors".to_string()),
    }?;
    in_memory(tensors)
}

/// The tensors with their data.
fn in_memory(tensors: Vec<Stored>) -> Result<Vec<Stored>, String> {
    let bar = progress_bar(tensors.len() as u64);
    bar.set_message("weights");
    let read = tensors.into_iter().map(|tensor| {
        bar.inc(1);
        let name = tensor.name.clone();
        let data = bridge::into_data(tensor).map_err(|error| format!("{name}: {error}"))?;
        Ok(bridge::from_data(data, name, None))
    });
    let read = read.collect();
    bar.finish_and_clear();
    read
}

fn tensors_of<Store: ModuleStore>(mut store: Store) -> Result<Vec<Stored>, String> {
    let tensors = store
        .get_all_tensors()
        .map_err(|error| format!("it is damaged, or no state dict: {error}"))?;
    let weights = tensors
        .values()
        .filter(|tensor| !tensor.name.ends_with(TRAINING_COUNTER));
    Ok(weights.cloned().collect())
}

/// Puts tensors into the places that their names say, and says what did not fit.
fn apply(model: &mut MaskRcnn, config: &Config, stored: Vec<Stored>) -> Result<Mismatch, String> {
    let (tensors, renamed) = names::to_module(config).remap(stored);
    // A file may have a tensor under both torchvision's old and new name; the second is unused.
    let mut originals = BTreeMap::new();
    let mut unused = Vec::new();
    for (field, original) in renamed {
        match originals.entry(field) {
            Entry::Vacant(place) => _ = place.insert(original),
            Entry::Occupied(_) => unused.push(original),
        }
    }
    let adapter = PyTorchToBurnAdapter.chain(FloatCastAdapter::to(DType::F32));
    let result = model.apply(tensors, None, Some(Box::new(adapter)), true);
    let without_place = result.unused.iter();
    unused.extend(without_place.map(|field| originals.get(field).unwrap_or(field).clone()));
    unused.sort();
    let missing = result
        .missing
        .iter()
        .map(|(field, _)| names::of_checkpoint(field, config));
    Ok(Mismatch {
        missing: missing.collect(),
        unused,
        shapes: other_shapes(result.errors, config)?,
    })
}

/// The shape mismatches among the errors; any other error means that the file is broken.
fn other_shapes(errors: Vec<ApplyError>, config: &Config) -> Result<Vec<OtherShape>, String> {
    let shapes = errors.into_iter().map(|error| match error {
        ApplyError::ShapeMismatch { path, expected, found } => {
            let [mut stored, mut expected] = [found.to_vec(), expected.to_vec()];
            // Tensors of rank 2 are of linear layers, which Burn stores transposed.
            if stored.len() == 2 && expected.len() == 2 {
                stored.reverse();
                expected.reverse();
            }
            Ok(OtherShape {
                name: names::of_checkpoint(&path, config),
                stored,
                expected,
            })
        }
        other => Err(other.to_string()),
    });
    shapes.collect()
}

#[cfg(test)]
mod tests;
