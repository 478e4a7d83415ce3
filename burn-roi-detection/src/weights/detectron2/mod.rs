//! detectron2's files: checkpoints and configs.

mod checkpoint;
mod config;
mod error;
mod pickle;

pub use checkpoint::Checkpoint;
pub use config::ConfigError;
pub use error::CheckpointError;
pub use pickle::{PickleError, PickleReason};
