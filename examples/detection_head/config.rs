//! A model's configuration: a JSON file, or the name of one of torchvision's models.

use std::path::Path;
use std::{fs, io};

use burn_roi_detection::models::DetectorConfig;

use crate::error::Error;

/// The model of that name, or the configuration in that file.
pub fn read(name_or_path: &Path) -> Result<DetectorConfig, Error> {
    let named = name_or_path.to_str().and_then(DetectorConfig::named);
    match named {
        Some(config) => Ok(config),
        None => from_json(&text(name_or_path)?, name_or_path),
    }
}

fn text(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|error| Error::Config {
        path: path.to_owned(),
        reason: match error.kind() {
            io::ErrorKind::NotFound => {
                let names = DetectorConfig::NAMES.join(", ");
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
