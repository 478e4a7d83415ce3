//! The command line.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use clap::{Parser, ValueEnum};
use detection_head::{BackendName, CONFIG, WEIGHTS};
use serde::Serialize;

use crate::error::Error;
use crate::pictures::Allowed;

const TRAINING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/coins/left.json");
const TEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/coins/right.json");

/// Trains a detector on pictures with COCO annotations, and measures it on others.
// What is serialized decides the result of a run: one that is resumed must have the same.
#[derive(Debug, Parser, Serialize)]
pub struct Arguments {
    /// The backend that trains
    #[arg(long, value_enum, default_value_t = BackendName::Flex)]
    #[serde(skip)]
    pub backend: BackendName,

    /// The COCO annotations to train on [default: the left half of a photograph of coins]
    #[arg(long, value_name = "FILE")]
    pub coco: Option<PathBuf>,

    /// The folder with the pictures to train on [default: the one that the annotations are in]
    #[arg(long, value_name = "FOLDER")]
    pub images: Option<PathBuf>,

    /// The COCO annotations to measure the detector on [default: those of --coco; the right half of the coins]
    #[arg(long, value_name = "FILE")]
    pub test_coco: Option<PathBuf>,

    /// The folder with the pictures to measure the detector on [default: that of the pictures to train on]
    #[arg(long, value_name = "FOLDER")]
    test_images: Option<PathBuf>,

    /// Read pictures whose `file_name` leads out of the folder of the pictures
    #[arg(long)]
    allow_outside: bool,

    /// Read JPEG files that end before their picture: what is missing is gray
    #[arg(long)]
    allow_truncated: bool,

    /// The detector's configuration: a JSON file, or the name of one of torchvision's models
    #[arg(long, value_name = "FILE", default_value = CONFIG)]
    pub config: PathBuf,

    /// The weights to begin with: a .pth, .pt or .safetensors file
    #[arg(long, value_name = "FILE", default_value = WEIGHTS)]
    pub weights: PathBuf,

    /// The number of steps
    #[arg(long, value_name = "N", default_value = "60")]
    pub steps: NonZeroUsize,

    /// The number of steps from one measurement and checkpoint to the next [default: a sixth of --steps]
    #[arg(long, value_name = "N")]
    interval: Option<NonZeroUsize>,

    /// The number of devices of the backend that train together: each step takes the mean of a batch of each
    #[arg(long, value_name = "N", default_value = "1")]
    devices: NonZeroUsize,

    /// The dtype that the layers run in, if not f32: torch's automatic mixed precision
    #[arg(long, value_enum, value_name = "DTYPE")]
    pub half: Option<Half>,

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
    #[serde(skip)]
    pub threads: NonZeroUsize,

    /// The seed of all random choices
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// The folder to write the weights, the history, the curves and the pictures into
    #[arg(long, value_name = "FOLDER", default_value = "target/finetune")]
    #[serde(skip)]
    pub output: PathBuf,

    /// Go on from the checkpoint that an interrupted run left in the folder
    #[arg(long)]
    #[serde(skip)]
    pub resume: bool,

    /// Fail if the AP50 of boxes or of masks is below 0.9
    #[arg(long)]
    #[serde(skip)]
    pub check: bool,
}

/// A dtype of 16 bits.
#[derive(Debug, Clone, Copy, Serialize, ValueEnum)]
pub enum Half {
    F16,
    Bf16,
}

impl Arguments {
    /// The devices that train, the trainer's first.
    pub fn devices(&self) -> Result<Vec<Device>, Error> {
        Ok(self.backend.devices(self.devices.get())?)
    }

    /// The annotations to train on, and the folder with their pictures.
    pub fn training(&self) -> [&Path; 2] {
        let coco = self.coco.as_deref().unwrap_or(Path::new(TRAINING));
        let folder = coco.parent().unwrap_or(Path::new(""));
        [coco, self.images.as_deref().unwrap_or(folder)]
    }

    /// The annotations to measure the detector on, and the folder with their pictures.
    pub fn test(&self) -> [&Path; 2] {
        let [training, images] = self.training();
        let coco = match (&self.test_coco, &self.coco) {
            (Some(coco), _) => coco,
            (None, Some(_)) => training,
            (None, None) => Path::new(TEST),
        };
        [coco, self.test_images.as_deref().unwrap_or(images)]
    }

    /// What is read only if the command says so.
    pub fn allowed(&self) -> Allowed {
        Allowed {
            outside: self.allow_outside,
            truncated: self.allow_truncated,
        }
    }

    pub fn interval(&self) -> usize {
        self.interval.map_or(self.steps.get().div_ceil(6), NonZeroUsize::get)
    }
}
