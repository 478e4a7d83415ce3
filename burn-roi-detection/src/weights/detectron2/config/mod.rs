//! Reads the `config.yaml` that detectron2 writes beside a checkpoint, as text.
//!
//! A config may have tags that name classes and functions of Python, such as `!!python/tuple`. Nothing of them is looked
//! up or called: a tagged list is a list, and a tagged mapping is what its `dictitems` say.

mod error;
mod node;
mod scalar;
mod settings;
mod yaml;

pub use error::ConfigError;
