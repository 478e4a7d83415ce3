//! A model's configuration: a JSON file, detectron2's `config.yaml`, or the name of one of torchvision's or
//! detectron2's models.

use std::path::Path;
use std::{fs, io};

use burn_roi_detection::models::DetectorConfig;
use burn_roi_detection::weights::detectron2;

use crate::error::Error;

/// The model of that name, or the configuration in that file.
pub fn read(name_or_path: &Path) -> Result<DetectorConfig, Error> {
    let name = name_or_path.to_str().unwrap_or_default();
    if let Some(config) = DetectorConfig::named(name).or_else(|| detectron2::named(name)) {
        return Ok(config);
    }
    let text = text(name_or_path)?;
    match name_or_path.extension().and_then(|ending| ending.to_str()) {
        Some("yaml" | "yml") => detectron2::read_config(name_or_path).map_err(|error| Error::Config {
            path: name_or_path.to_owned(),
            reason: error.to_string(),
        }),
        _ => from_json(&text, name_or_path),
    }
}

fn text(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|error| Error::Config {
        path: path.to_owned(),
        reason: match error.kind() {
            io::ErrorKind::NotFound => {
                let names = [&DetectorConfig::NAMES[..], &detectron2::NAMES].concat().join(", ");
                format!("no such file, and no model of this name ({names})")
            }
            _ => error.to_string(),
        },
    })
}

/// A configuration from the text of a file; errors call it `path`.
pub fn from_json(text: &str, path: &Path) -> Result<DetectorConfig, Error> {
    let failed = |reason: String| Error::Config {
        path: path.to_owned(),
        reason,
    };
    let config: DetectorConfig = serde_json::from_str(text).map_err(|error| failed(error.to_string()))?;
    config.check().map_err(|error| failed(error.to_string()))?;
    Ok(config)
}
