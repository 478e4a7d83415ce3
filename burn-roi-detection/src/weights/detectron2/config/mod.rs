//! Reads the `config.yaml` that detectron2 writes beside a checkpoint, as text.
//!
//! A config may have tags that name classes and functions of Python, such as `!!python/tuple`. Nothing of them is
//! looked up or called: a tagged list is a list, and a tagged mapping is what its `dictitems` say.

mod detector;
mod error;
mod heads;
mod labels;
mod named;
mod node;
mod region_proposals;
mod resnet;
mod scalar;
mod settings;
mod yaml;

use std::fs;
use std::path::Path;

use crate::models::DetectorConfig;
pub use error::ConfigError;
pub use named::{NAMES, named};
use settings::Settings;

/// The config of a detector, of a text that detectron2's `cfg.dump()` wrote.
///
/// Settings that are absent have detectron2's defaults. Settings of training are not read. The names of classes are not
/// in a config: a model of 80 classes that was trained on COCO has COCO's, and another has `class 0` and so on, which
/// may be replaced.
///
/// ```
/// use burn_roi_detection::weights::detectron2::config_from_yaml;
///
/// let text = "MODEL: {RESNETS: {DEPTH: 101, NORM: GN}}";
/// assert_eq!(
///     config_from_yaml(text).unwrap_err().to_string(),
///     r#"`MODEL.RESNETS.NORM` is "GN", but must be one of ["FrozenBN", "BN", "SyncBN", "nnSyncBN", "naiveSyncBN"]"#
/// );
/// ```
///
/// # Errors
///
/// The text is no YAML or is larger than any config, refers to another file by `_BASE_`, or has a setting that the
/// models can't have. The error names the key and its value.
pub fn config_from_yaml(text: &str) -> Result<DetectorConfig, ConfigError> {
    detector::detector(Settings::read(text)?, "a model of detectron2")
}

/// [`config_from_yaml`] of a file.
///
/// # Errors
///
/// The file can't be read, or as [`config_from_yaml`].
pub fn read_config(path: impl AsRef<Path>) -> Result<DetectorConfig, ConfigError> {
    let failed = |reason: String| ConfigError::File { reason };
    let bytes = fs::read(path).map_err(|error| failed(error.to_string()))?;
    let text = str::from_utf8(&bytes).map_err(|error| failed(error.to_string()))?;
    config_from_yaml(text)
}
