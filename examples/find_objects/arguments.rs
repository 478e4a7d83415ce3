//! The command line.

use std::path::{Path, PathBuf};

use clap::Parser;

use crate::backend_name::BackendName;
use crate::error::Error;

/// The configuration of the detector of drawn shapes, which `finetune` begins with.
pub const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/shapes.json");
/// Its weights.
pub const WEIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/shapes.safetensors");
/// The configuration of the detector of coins, which this command and `serve` run by default.
pub const COINS_CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/coins.json");
/// Its weights.
const COINS_WEIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/coins.safetensors");
/// The half of a photograph of coins that the detector of coins was not trained on.
const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../finetune/coins/right.png");

/// Finds objects in pictures with a two-stage detector, and draws their boxes, labels, scores and masks.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// The backend that runs the model
    #[arg(long, value_enum, default_value_t = BackendName::Flex)]
    pub backend: BackendName,

    /// A picture (JPEG, PNG, WebP, BMP, GIF or TIFF), or a folder of them; may be repeated
    #[arg(long, value_name = "FILE", default_value = PICTURE)]
    pub image: Vec<PathBuf>,

    /// The weights of torchvision or detectron2: a .pth, .pt, .pkl or .safetensors file [default: those of the shipped
    /// detector of coins]
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,

    /// The model: a JSON file, detectron2's config.yaml, or a name of torchvision's or detectron2's model zoo, such as
    /// maskrcnn_resnet50_fpn or COCO-InstanceSegmentation/mask_rcnn_R_50_FPN_3x [default: the shipped coins.json]
    #[arg(long, value_name = "FILE|NAME", default_value = COINS_CONFIG, hide_default_value = true)]
    pub config: PathBuf,

    /// The PNG file to write; with several pictures, a number is added to each file's name
    #[arg(long, value_name = "FILE", default_value = "target/find_objects.png")]
    pub output: PathBuf,

    /// Print the detections of each picture as a line of JSON, and everything else to stderr
    #[arg(long)]
    pub json: bool,

    /// The minimum score of the detections that are drawn; JSON has all that the configuration's threshold leaves
    #[arg(long, value_name = "SCORE", default_value_t = 0.5)]
    pub score_threshold: f32,

    /// A server that runs the heads, such as ws://127.0.0.1:3000; may be repeated, and the pictures are spread over them
    #[arg(long, value_name = "URL", conflicts_with = "compare")]
    pub server: Vec<String>,

    /// Run the whole detector on the servers, not the heads alone
    #[arg(long, requires = "server")]
    pub all: bool,

    /// Compare each layer with a recording of torchvision's for the same picture, and fail if they differ
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub compare: Option<PathBuf>,
}

impl Arguments {
    /// The weights to load.
    pub fn weights(&self) -> Result<PathBuf, Error> {
        weights_for(&self.config, self.weights.as_deref())
    }
}

/// The weights of a configuration: those of `--weights`, or the shipped ones of a shipped configuration.
pub fn weights_for(config: &Path, weights: Option<&Path>) -> Result<PathBuf, Error> {
    let shipped = [(CONFIG, WEIGHTS), (COINS_CONFIG, COINS_WEIGHTS)];
    let of_shipped = || shipped.into_iter().find(|(of, _)| config.as_os_str() == *of);
    match weights {
        Some(path) => Ok(path.to_owned()),
        None => match of_shipped() {
            Some((_, weights)) => Ok(weights.into()),
            None => Err(Error::NoWeights(config.to_owned())),
        },
    }
}
