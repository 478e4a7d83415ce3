//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Parser;
use detection_head::BackendName;

use crate::learning::Settings;

/// Trains the box and mask heads of the shipped detector on a class that it has not seen, and measures what it finds.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// The backend that runs and trains the model
    #[arg(long, value_enum, default_value_t = BackendName::Flex)]
    pub backend: BackendName,

    /// The number of devices that share the batches of an epoch
    #[arg(long, value_name = "N", default_value = "1")]
    pub devices: NonZeroUsize,

    /// The number of epochs; each has new pictures
    #[arg(long, value_name = "N", default_value = "12", allow_negative_numbers = true)]
    epochs: NonZeroUsize,

    /// The number of batches of an epoch
    #[arg(long, value_name = "N", default_value = "50", allow_negative_numbers = true)]
    batches: NonZeroUsize,

    /// The number of pictures of a batch
    #[arg(long, value_name = "N", default_value = "8", allow_negative_numbers = true)]
    batch_size: NonZeroUsize,

    /// The learning rate at the start, from which it falls along a cosine
    #[arg(long, value_name = "RATE", default_value = "2e-3", allow_negative_numbers = true, value_parser = rate)]
    rate: f64,

    /// The seed of the pictures and of the random choices
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// The number of pictures that the detector is measured on, before and after
    #[arg(long, value_name = "N", default_value = "100")]
    pub evaluate: NonZeroUsize,

    /// The folder to write the weights, their configuration and the pictures into
    #[arg(long, value_name = "FOLDER", default_value = "target/train_heads")]
    pub output: PathBuf,

    /// Begin anew, and forget an interrupted run
    #[arg(long)]
    pub restart: bool,

    /// Fail if the new class has a box AP50 below 0.80, or the mean of the old ones falls by more than 0.02
    #[arg(long)]
    pub check: bool,

    /// Repeat the 20 steps of torchvision in this recording instead, and fail if a loss or a weight differs
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
}

impl Arguments {
    pub fn settings(&self) -> Settings {
        Settings {
            backend: self.backend.to_string(),
            devices: self.devices.get(),
            seed: self.seed,
            epochs: self.epochs.get(),
            batches: self.batches.get(),
            batch_size: self.batch_size.get(),
            rate: self.rate,
        }
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if rate > 0.0 && rate <= 1.0 => Ok(rate),
        _ => Err("it must be a number above 0 and at most 1".to_string()),
    }
}
