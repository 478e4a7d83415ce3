//! The command line.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Parser;
use detection_head::{BackendName, CONFIG, WEIGHTS};

const COINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/coins");
const TRAINING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/coins/left.json");
const TEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/coins/right.json");

/// Trains a detector on pictures with COCO annotations, and measures it on others.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// The backend that trains
    #[arg(long, value_enum, default_value_t = BackendName::Flex)]
    pub backend: BackendName,

    /// The COCO annotations to train on
    #[arg(long, value_name = "FILE", default_value = TRAINING)]
    pub coco: PathBuf,

    /// The folder with the pictures to train on
    #[arg(long, value_name = "FOLDER", default_value = COINS)]
    pub images: PathBuf,

    /// The COCO annotations to measure the detector on
    #[arg(long, value_name = "FILE", default_value = TEST)]
    pub test_coco: PathBuf,

    /// The folder with the pictures to measure the detector on [default: that of --images]
    #[arg(long, value_name = "FOLDER")]
    test_images: Option<PathBuf>,

    /// The detector's configuration: a JSON file, or the name of one of torchvision's models
    #[arg(long, value_name = "FILE", default_value = CONFIG)]
    pub config: PathBuf,

    /// The weights to begin with: a .pth, .pt or .safetensors file
    #[arg(long, value_name = "FILE", default_value = WEIGHTS)]
    pub weights: PathBuf,

    /// The number of steps
    #[arg(long, value_name = "N", default_value = "60")]
    pub steps: NonZeroUsize,

    /// The number of pictures of a batch
    #[arg(long, value_name = "N", default_value = "1")]
    pub batch_size: NonZeroUsize,

    /// The learning rate after the warm-up
    #[arg(long, value_name = "RATE", default_value_t = 0.01)]
    pub rate: f64,

    /// The body's first stages that are not trained: 5 are all of a ResNet
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub frozen_stages: usize,

    /// The lengths of the shorter side that pictures are resized to, at random [default: the configuration's]
    #[arg(long, value_name = "PIXELS", value_delimiter = ',')]
    pub min_size: Vec<usize>,

    /// The threads that read and resize pictures
    #[arg(long, value_name = "N", default_value = "1")]
    pub threads: NonZeroUsize,

    /// The seed of all random choices
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// The folder to write the weights, the losses and the pictures into
    #[arg(long, value_name = "FOLDER", default_value = "target/finetune")]
    pub output: PathBuf,

    /// Fail if the AP50 of boxes or of masks is below 0.9
    #[arg(long)]
    pub check: bool,
}

impl Arguments {
    pub fn test_images(&self) -> &Path {
        self.test_images.as_ref().unwrap_or(&self.images)
    }
}
