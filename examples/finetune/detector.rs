//! The detector that a run begins with, and the files of the one that it ends with.

use burn::tensor::Device;
use burn_roi_detection::data::coco::CocoDataset;
use burn_roi_detection::models::{Background, Detector};
use burn_roi_detection::train::{with_new_classes, with_new_keypoints};
use burn_roi_detection::weights::{NameTable, StateDict};
use detection_head::config;

use crate::arguments::Arguments;
use crate::error::Error;
use crate::history::write_file;

/// The seed of the layers that are replaced.
const LAYERS_SEED: u64 = 7;

/// A trained detector, whose last layers are replaced by layers for the categories and keypoints of a data set.
pub fn begin(arguments: &Arguments, dataset: &CocoDataset, device: &Device) -> Result<Detector, Error> {
    device.seed(LAYERS_SEED);
    let mut detector = Detector::try_new(config::read(&arguments.config)?, device)?;
    StateDict::read(&arguments.weights)?.load_into(&mut detector, NameTable::torchvision)?;
    let classes = classes(dataset, detector.config().background);
    let detector = with_new_classes(detector, classes)?;
    let mut keypoints = dataset.categories().iter().map(|category| &category.keypoints);
    match keypoints.find(|names| !names.is_empty()) {
        Some(names) => Ok(with_new_keypoints(detector, names.clone())?),
        None => Ok(detector),
    }
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
