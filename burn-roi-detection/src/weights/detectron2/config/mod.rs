//! Reads the `config.yaml` that detectron2 writes beside a checkpoint, and the files of its folder `configs`, as text.
//!
//! A config may have tags that name classes and functions of Python, such as `!!python/tuple`. Nothing of them is
//! looked up or called: a tagged list is a list, and a tagged mapping is what its `dictitems` say.

mod detector;
mod error;
mod heads;
mod labels;
mod layout;
mod named;
mod node;
mod region_proposals;
mod resnet;
mod scalar;
mod settings;
mod vitdet;
mod yaml;

use std::fs;
use std::path::Path;

use crate::models::DetectorConfig;
pub use error::ConfigError;
pub use named::{NAMES, named};
use settings::Settings;

/// How many files can refer to each other by `_BASE_`. detectron2's own are two or three.
const MAX_FILES: usize = 8;

/// The config of a detector, of a text that detectron2's `cfg.dump()` wrote.
///
/// Settings that are absent have detectron2's defaults. Settings of training are not read. The names of classes are not
/// in a config: a model of 80 classes that was trained on COCO has COCO's, and another has `class 0` and so on, which
/// may be replaced.
///
/// ```
/// use burn_roi_detection::weights::detectron2::config_from_yaml;
///
/// let text = "MODEL: {RESNETS: {DEPTH: 101, NORM: LN}}";
/// assert_eq!(
///     config_from_yaml(text).unwrap_err().to_string(),
///     "`MODEL.RESNETS.NORM` is \"LN\", but must be one of \
///     [\"FrozenBN\", \"BN\", \"SyncBN\", \"nnSyncBN\", \"naiveSyncBN\", \"GN\"]"
/// );
/// ```
///
/// # Errors
///
/// The text is no YAML or is larger than any config, names another file by `_BASE_`, or has a setting that the
/// models can't have. The error names the key and its value.
pub fn config_from_yaml(text: &str) -> Result<DetectorConfig, ConfigError> {
    model(Settings::read(text)?.must_be_whole()?)
}

/// [`config_from_yaml`] of a file. If it names another file by `_BASE_`, as the files of detectron2's folder `configs`
/// do, it changes the settings of that file. The path is relative to the file that names it.
///
/// # Errors
///
/// - A file can't be read, or its `_BASE_` is no path of a `.yaml` file.
/// - More than eight files refer to each other.
/// - All errors of [`config_from_yaml`] but that of `_BASE_`.
pub fn read_config(path: impl AsRef<Path>) -> Result<DetectorConfig, ConfigError> {
    model(settings_of(path.as_ref(), MAX_FILES)?)
}

fn model(settings: Settings) -> Result<DetectorConfig, ConfigError> {
    detector::detector(settings, "a model of detectron2")
}

/// The settings of a file and of the files that it refers to, at most `files` in all.
fn settings_of(path: &Path, files: usize) -> Result<Settings, ConfigError> {
    let failed = |reason: &dyn std::fmt::Display| ConfigError::File {
        reason: format!("{}: {reason}", path.display()),
    };
    if files == 0 {
        return Err(failed(&format!(
            "more than {MAX_FILES} configs refer to each other by `_BASE_`"
        )));
    }
    let bytes = fs::read(path).map_err(|error| failed(&error))?;
    let mut own = Settings::read(str::from_utf8(&bytes).map_err(|error| failed(&error))?)?;
    let Some(base) = own.take_base("the path of a `.yaml` file")? else {
        return Ok(own);
    };
    let mut settings = settings_of(&path.with_file_name(base), files - 1)?;
    settings.replace(own);
    Ok(settings)
}
