//! What can be wrong with a config.

use thiserror::Error;

/// Why a config of detectron2 was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file can't be read.
    #[error("{reason}")]
    File {
        /// What the system says.
        reason: String,
    },
    /// The file is larger than any config.
    #[error("it has {bytes} bytes, but a config has at most {limit}")]
    Length {
        /// The bytes of the file.
        bytes: usize,
        /// The most that a config may have.
        limit: usize,
    },
    /// The text is not YAML, or uses a part of YAML that no config uses.
    #[error("line {line}: {reason}")]
    Yaml {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The config has more keys than any config, or longer ones.
    #[error("it has more than {limit} keys, or a key of more than 200 characters")]
    Keys {
        /// The most that a config may have.
        limit: usize,
    },
    /// A setting has a value that these models do not support.
    #[error("`{key}` is {value}, but must be {expected}")]
    Setting {
        /// The key, its levels joined by dots.
        key: String,
        /// Its value.
        value: String,
        /// What it must be.
        expected: String,
    },
    /// A setting of the model that is not one of detectron2's known settings.
    #[error("`{key}` is {value}, but is none of detectron2's settings that are known here")]
    Unknown {
        /// The key, its levels joined by dots.
        key: String,
        /// Its value.
        value: String,
    },
    /// The settings are valid one by one, but not together.
    #[error("no model can be built of it: {reason}")]
    Model {
        /// What is wrong with the detector's config.
        reason: String,
    },
}
