//! The command line.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use burn::tensor::Device;
use burn_roi_detection::data::coco::{CocoPictures, CocoPicturesConfig};
use burn_roi_detection::models::DetectorConfig;
use burn_roi_detection::pictures::DecodeConfig;
use burn_roi_detection::train::{BatchConfig, BatchSource, LearningRateSchedule, TrainerConfig};
use clap::{Parser, ValueEnum};
use find_objects::{BackendName, CONFIG, WEIGHTS};
use serde::Serialize;

use crate::error::Error;

const TRAINING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/coins/left.json");
const TEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/coins/right.json");

/// The learning rate of detectron2 and torchvision, and the pictures of a step that it is for.
const RATE: f64 = 0.02;
const PICTURES_OF_RATE: f64 = 16.0;

/// The library's default.
fn default_frozen_stages() -> usize {
    TrainerConfig::new(LearningRateSchedule::new(RATE)).frozen_stages
}

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

    /// The folder with the pictures to measure the detector on [default: that of the pictures to train on; without any,
    /// the one that the annotations are in]
    #[arg(long, value_name = "FOLDER")]
    test_images: Option<PathBuf>,

    /// Read pictures whose `file_name` leads out of the folder of the pictures
    #[arg(long)]
    allow_outside: bool,

    /// Read JPEG files that end before their picture: what is missing is gray
    #[arg(long)]
    allow_truncated: bool,

    /// The detector's configuration: a JSON file, detectron2's config.yaml, or a name of torchvision's or detectron2's
    /// model zoo, such as maskrcnn_resnet50_fpn or COCO-InstanceSegmentation/mask_rcnn_R_50_FPN_3x
    #[arg(long, value_name = "FILE|NAME", default_value = CONFIG)]
    pub config: PathBuf,

    /// The weights of torchvision or detectron2 to begin with: a .pth, .pt, .pkl or .safetensors file [default: the
    /// shipped ones, for the shipped configuration]
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,

    /// The weights of the backbone alone to begin with, such as an ImageNet classifier's: torchvision's .pth file, or
    /// detectron2's R-50.pkl. All other layers are new
    #[arg(long, value_name = "FILE", conflicts_with = "weights")]
    pub backbone: Option<PathBuf>,

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

    /// The learning rate after the warm-up [default: 0.02 for 16 pictures a step, and in proportion for others]
    #[arg(long, value_name = "RATE")]
    pub rate: Option<f64>,

    /// The body's first stages that are not trained: a ResNet has five, and torchvision trains the last three
    #[arg(long, value_name = "N", default_value_t = default_frozen_stages())]
    pub frozen_stages: usize,

    /// The lengths of the shorter side that pictures are resized to, at random [default: the configuration's]
    #[arg(long, value_name = "PIXELS", value_delimiter = ',')]
    pub min_size: Vec<usize>,

    /// The threads that read and resize pictures [default: as many as the processor has]
    #[arg(long, value_name = "N")]
    #[serde(skip)]
    threads: Option<NonZeroUsize>,

    /// The seed of all random choices
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// The folder to write the weights, the history, the curves and the pictures into
    #[arg(long, value_name = "FOLDER", default_value = "target/finetune")]
    #[serde(skip)]
    pub output: PathBuf,

    /// The minutes from one checkpoint to the next, at most
    #[arg(long, value_name = "N", default_value = "5")]
    #[serde(skip)]
    checkpoint_minutes: NonZeroU32,

    /// Measure the detector before the first step too
    #[arg(long)]
    #[serde(skip)]
    pub evaluate_first: bool,

    /// Measure the detector of --config and --weights, and train nothing. Its classes are found by their names
    #[arg(long, conflicts_with_all = ["resume", "evaluate_first", "backbone"])]
    #[serde(skip)]
    pub evaluate_only: bool,

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
        let images = match (&self.images, &self.coco) {
            (None, None) => coco.parent().unwrap_or(images),
            _ => images,
        };
        [coco, self.test_images.as_deref().unwrap_or(images)]
    }

    /// The weights of a whole detector to begin with. The shipped ones fit only the shipped configuration.
    pub fn weights(&self) -> Result<&Path, Error> {
        match &self.weights {
            Some(path) => Ok(path),
            None if self.config.as_os_str() == CONFIG => Ok(Path::new(WEIGHTS)),
            None => Err(Error::NoWeights(self.config.clone())),
        }
    }

    /// Reads annotations and the pictures of a folder.
    pub fn read(&self, [annotations, folder]: [&Path; 2]) -> Result<CocoPictures, Error> {
        let config = CocoPicturesConfig {
            folder: Some(folder.to_owned()),
            allow_outside: self.allow_outside,
            decoding: DecodeConfig {
                allow_truncated: self.allow_truncated,
                ..DecodeConfig::new()
            },
        };
        Ok(CocoPictures::read(annotations, &config)?)
    }

    /// The batches for a detector of this config.
    pub fn batches(&self, pictures: &CocoPictures, config: &DetectorConfig) -> Result<BatchSource, Error> {
        Ok(BatchSource {
            pictures: pictures.clone(),
            config: config.clone(),
            devices: self.devices()?,
            batches: BatchConfig {
                seed: self.seed,
                ..BatchConfig::new(self.batch_size.get())
            },
            min_sizes: self.min_size.clone(),
        })
    }

    /// The pictures of a step, on all devices.
    pub fn pictures_of_step(&self) -> usize {
        self.batch_size.get() * self.devices.get()
    }

    /// The learning rate after the warm-up.
    pub fn rate(&self) -> f64 {
        self.rate
            .unwrap_or(RATE * self.pictures_of_step() as f64 / PICTURES_OF_RATE)
    }

    pub fn threads(&self) -> usize {
        let all = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.threads.unwrap_or_else(all).get()
    }

    /// The longest time without a checkpoint.
    pub fn checkpoint_time(&self) -> Duration {
        Duration::from_secs(60 * u64::from(self.checkpoint_minutes.get()))
    }

    pub fn interval(&self) -> usize {
        self.interval.map_or(self.steps.get().div_ceil(6), NonZeroUsize::get)
    }
}
