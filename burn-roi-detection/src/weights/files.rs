//! A detector's files: its config and its weights.

use std::path::Path;
use std::{fs, io};

use super::write_whole::write_whole;
use super::{NameTable, StateDict, WeightsError, detectron2};
use crate::models::{Detector, DetectorConfig};

/// The config of a model of torchvision's or detectron2's by its name, or that in a file: JSON, or detectron2's
/// `config.yaml`.
///
/// ```
/// use burn_roi_detection::weights::read_config;
///
/// assert_eq!(read_config("maskrcnn_resnet50_fpn")?.classes.len(), 91);
/// // detectron2's model zoo.
/// assert_eq!(read_config("COCO-InstanceSegmentation/mask_rcnn_R_50_FPN_3x")?.classes.len(), 81);
/// # Ok::<(), burn_roi_detection::weights::WeightsError>(())
/// ```
///
/// # Errors
///
/// [`WeightsError::Config`]: there is neither a model nor a file of this name, or the file is no config of a detector.
pub fn read_config(name_or_path: impl AsRef<Path>) -> Result<DetectorConfig, WeightsError> {
    let path = name_or_path.as_ref();
    let name = path.to_str().unwrap_or_default();
    if let Some(config) = DetectorConfig::named(name).or_else(|| detectron2::named(name)) {
        return Ok(config);
    }
    let failed = |reason: String| WeightsError::Config {
        path: path.to_owned(),
        reason,
    };
    let text = fs::read_to_string(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let names = [&DetectorConfig::NAMES[..], &detectron2::NAMES].concat().join(", ");
            failed(format!("no such file, and no model of this name ({names})"))
        }
        _ => failed(error.to_string()),
    })?;
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("yaml" | "yml") => detectron2::read_config(path).map_err(|error| failed(error.to_string())),
        _ => config_from_json(&text, path),
    }
}

/// The config of a detector from the text of a JSON file.
///
/// - `path`: what errors call the file.
///
/// # Errors
///
/// [`WeightsError::Config`]: the text is no config, or [`DetectorConfig::check`] refuses it.
pub fn config_from_json(text: &str, path: impl AsRef<Path>) -> Result<DetectorConfig, WeightsError> {
    let failed = |reason: String| WeightsError::Config {
        path: path.as_ref().to_owned(),
        reason,
    };
    let config: DetectorConfig = serde_json::from_str(text).map_err(|error| failed(error.to_string()))?;
    config.check().map_err(|error| failed(error.to_string()))?;
    Ok(config)
}

/// Reads a file of weights under torchvision's or detectron2's names, whichever it has, and puts them into a detector.
///
/// ```no_run
/// use burn::tensor::Device;
/// use burn_roi_detection::models::Detector;
/// use burn_roi_detection::weights;
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let mut detector = Detector::try_new(weights::read_config("config.yaml")?, &Device::default())?;
///     weights::load("model_final.pkl", &mut detector)?;
///     Ok(())
/// }
/// ```
///
/// # Errors
///
/// All errors of [`StateDict::read`] and [`StateDict::load_into`].
pub fn load(path: impl AsRef<Path>, detector: &mut Detector) -> Result<(), WeightsError> {
    let state = StateDict::read(path)?;
    let names = state.naming(detector);
    state.load_into(detector, names)
}

/// Writes a detector into a folder, which is created if there is none: `config.json` for [`read_config`], and
/// `weights.safetensors` for [`load`], with torchvision's names. Each is written as a whole or not at all.
///
/// # Errors
///
/// [`WeightsError::Write`] or [`WeightsError::Tensor`]: a file can't be written, or a weight can't be read.
pub fn save(detector: &Detector, folder: impl AsRef<Path>) -> Result<(), WeightsError> {
    let folder = folder.as_ref();
    let state = StateDict::of(detector, NameTable::torchvision)?;
    let path = folder.join("config.json");
    let written = fs::create_dir_all(folder).and_then(|()| {
        let json = serde_json::to_vec_pretty(detector.config())?;
        write_whole(&path, &json)
    });
    written.map_err(|error| WeightsError::Write {
        path,
        reason: error.to_string(),
    })?;
    state.write(folder.join("weights.safetensors"))
}
