//! The detector that a run begins with, and the files of the one that it ends with.

use burn::tensor::Device;
use burn_roi_detection::data::coco::CocoDataset;
use burn_roi_detection::models::{Background, BodyConfig, Detector};
use burn_roi_detection::train::{with_new_classes, with_new_keypoints};
use burn_roi_detection::weights::{NameTable, StateDict};
use find_objects::{config, weights};

use crate::arguments::Arguments;
use crate::error::Error;
use crate::history::write_file;

/// The seed of the layers that are replaced.
const LAYERS_SEED: u64 = 7;
/// What norms add to the variance in every classifier. torchvision's named detectors have 0, which is right for their
/// published weights alone.
const NORM_EPSILON: f64 = 1e-5;

/// A trained detector, whose last layers are replaced by layers for the categories and keypoints of a data set, or one
/// with a trained backbone alone.
pub fn begin(arguments: &Arguments, dataset: &CocoDataset, device: &Device) -> Result<Detector, Error> {
    let detector = load(arguments, device)?;
    let classes = classes(dataset, detector.config().background);
    let detector = with_new_classes(detector, classes)?;
    let mut keypoints = dataset.categories().iter().map(|category| &category.keypoints);
    match keypoints.find(|names| !names.is_empty()) {
        Some(names) => Ok(with_new_keypoints(detector, names.clone())?),
        None => Ok(detector),
    }
}

/// The detector that the options name, as it was trained.
pub fn load(arguments: &Arguments, device: &Device) -> Result<Detector, Error> {
    device.seed(LAYERS_SEED);
    let mut config = config::read(&arguments.config)?;
    if let (Some(_), BodyConfig::ResNet(body)) = (&arguments.backbone, &mut config.body)
        && body.batch_norm_epsilon == 0.0
    {
        body.batch_norm_epsilon = NORM_EPSILON;
    }
    let mut detector = Detector::try_new(config, device)?;
    match &arguments.backbone {
        Some(path) => weights::load_backbone(path, &mut detector)?,
        None => weights::load(arguments.weights()?, &mut detector)?,
    }
    Ok(detector)
}

/// The background and the categories, in the order of a detector's labels.
pub fn classes(dataset: &CocoDataset, background: Background) -> Vec<String> {
    let mut names: Vec<_> = dataset
        .categories()
        .iter()
        .map(|category| category.name.clone())
        .collect();
    let position = if background == Background::Last { names.len() } else { 0 };
    names.insert(position, "__background__".to_string());
    names
}

/// Writes the weights and the configuration that other commands load.
pub fn write(detector: &Detector, arguments: &Arguments) -> Result<(), Error> {
    let [config, weights] = ["config.json", "weights.safetensors"].map(|name| arguments.output.join(name));
    let json = serde_json::to_vec_pretty(detector.config()).expect("a configuration is JSON");
    write_file(&config, &json)?;
    StateDict::of(detector, NameTable::torchvision)?.write(&weights)?;
    println!(
        "wrote the detector:\n  --config {} --weights {}",
        config.display(),
        weights.display()
    );
    Ok(())
}
