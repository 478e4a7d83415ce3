//! The detector that a run begins with, and the files of the one that it ends with.

use burn::tensor::Device;
use burn_roi_detection::data::coco::CocoDataset;
use burn_roi_detection::models::{BodyConfig, Detector};
use burn_roi_detection::train::with_categories;
use burn_roi_detection::weights::{self, StateDict};

use crate::arguments::Arguments;
use crate::error::Error;

/// The seed of the layers that are replaced.
const LAYERS_SEED: u64 = 7;
/// What norms add to the variance in every classifier. torchvision's named detectors have 0, which is right for their
/// published weights alone.
const NORM_EPSILON: f64 = 1e-5;

/// A trained detector, whose last layers are replaced by layers for the categories and keypoints of a data set, or one
/// with a trained backbone alone.
pub fn begin(arguments: &Arguments, dataset: &CocoDataset, device: &Device) -> Result<Detector, Error> {
    Ok(with_categories(load(arguments, device)?, dataset)?)
}

/// The detector that the options name, as it was trained.
pub fn load(arguments: &Arguments, device: &Device) -> Result<Detector, Error> {
    device.seed(LAYERS_SEED);
    let mut config = weights::read_config(&arguments.config)?;
    if let (Some(_), BodyConfig::ResNet(body)) = (&arguments.backbone, &mut config.body)
        && body.batch_norm_epsilon == 0.0
    {
        body.batch_norm_epsilon = NORM_EPSILON;
    }
    let mut detector = Detector::try_new(config, device)?;
    match &arguments.backbone {
        Some(path) => StateDict::read(path)?.load_backbone_into(&mut detector)?,
        None => weights::load(arguments.weights()?, &mut detector)?,
    }
    Ok(detector)
}

/// Writes the weights and the configuration that other commands load.
pub fn write(detector: &Detector, arguments: &Arguments) -> Result<(), Error> {
    weights::save(detector, &arguments.output)?;
    let [config, weights] = ["config.json", "weights.safetensors"].map(|name| arguments.output.join(name));
    println!(
        "wrote the detector:\n  --config {} --weights {}",
        config.display(),
        weights.display()
    );
    Ok(())
}
