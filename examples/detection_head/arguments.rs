//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::backend_name::BackendName;
use crate::error::Error;

const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/detection_head/shapes.json");
const WEIGHTS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/examples/detection_head/shapes.safetensors"
);

/// Finds objects in pictures with Mask R-CNN, and draws their boxes, labels, scores and masks.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// The backend that computes
    #[arg(long, value_enum, default_value_t = BackendName::Flex)]
    pub backend: BackendName,

    /// A JPEG or PNG file, or a folder of them; may be repeated
    #[arg(long, value_name = "FILE", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/detection_head/shapes.png"))]
    pub image: Vec<PathBuf>,

    /// torchvision's weights: a state dict as .pth, .pt or .safetensors [default: the shipped shapes.safetensors]
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,

    /// What the weights are of: a JSON file, maskrcnn_resnet50_fpn or maskrcnn_resnet50_fpn_v2
    #[arg(long, value_name = "FILE|NAME", default_value = CONFIG, hide_default_value = true)]
    pub config: PathBuf,

    /// The PNG file to write; of several pictures, each has its number added to the name
    #[arg(long, value_name = "FILE", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/target/detection_head.png"))]
    pub output: PathBuf,

    /// Print what was found as JSON, one object a picture a line, and all else to stderr
    #[arg(long)]
    pub json: bool,

    /// The least score of what is drawn; what is found and printed as JSON is the configuration's
    #[arg(long, value_name = "SCORE", default_value_t = 0.5)]
    pub score_threshold: f32,

    /// Compare each layer of the one picture with what torchvision made of it, and fail where they differ
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub compare: Option<PathBuf>,
}

impl Arguments {
    /// The weights, which must be named where the configuration is: the shipped ones fit only theirs.
    pub fn weights(&self) -> Result<PathBuf, Error> {
        match &self.weights {
            Some(path) => Ok(path.clone()),
            None if self.config.as_os_str() == CONFIG => Ok(WEIGHTS.into()),
            None => Err(Error::NoWeights(self.config.clone())),
        }
    }
}
