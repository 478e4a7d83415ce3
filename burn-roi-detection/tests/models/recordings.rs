//! torchvision's seven detectors, narrow and with random weights, compared part by part with torchvision. The
//! environment variable `MODEL_RECORDINGS` names a folder of other recordings, such as those of full width. With this
//! folder it runs the shipped ones on all backends.

use burn::tensor::Device;
use burn_roi_detection::models::{Detector, DetectorConfig, Head, pool_regions};
use burn_roi_detection::weights::{NameTable, StateDict};

use super::comparison::Comparison;
use super::recording::{Recording, of_folder, pictures, read};
use crate::backends::backends;

/// The parts after the proposals get the recorded proposals, and those after the detections the recorded detections:
/// two runs can order proposals of nearly equal scores differently. Last comes a whole run.
pub fn compare(
    recording: &Recording,
    weights: StateDict,
    names: fn(&DetectorConfig) -> NameTable,
    device: &Device,
    name: &str,
) {
    let mut detector = Detector::new(recording.config(), device);
    weights.load_into(&mut detector, names).unwrap();
    let comparison = Comparison::new(recording);
    println!("on {name}");
    let pixels = recording.pixels();
    let pictures = pictures(&pixels);
    let images = detector.prepare(&pictures);
    comparison.tensor("input", images.tensors.clone());
    let (config, heads) = (detector.config(), detector.heads());
    let maps = detector.body(&images);
    for (index, map) in maps.iter().enumerate() {
        comparison.tensor(&format!("body.{index}"), map.clone());
    }
    let levels = detector.feature_pyramid(maps);
    for (index, level) in levels.iter().enumerate() {
        comparison.tensor(&format!("levels.{index}"), level.clone());
    }
    let predicted = detector.region_predictions(&levels);
    for (index, (objectness, deltas)) in predicted.objectness.iter().zip(&predicted.deltas).enumerate() {
        comparison.tensor(&format!("objectness.{index}"), objectness.clone());
        comparison.tensor(&format!("deltas.{index}"), deltas.clone());
    }
    for (image, proposals) in detector.proposals(predicted, &images).into_iter().enumerate() {
        comparison.proposals(image, proposals);
    }

    let sizes = &images.image_sizes;
    let pooled = pool_regions(&levels, recording.boxes("proposals", device), sizes, config, Head::Box);
    comparison.tensor("box_features", pooled.clone());
    let (logits, deltas) = heads.boxes(pooled);
    comparison.tensor("class_logits", logits);
    comparison.tensor("box_regression", deltas);
    let boxes = recording.boxes("boxes", device);
    if config.mask_head.is_some() {
        let pooled = pool_regions(&levels, boxes.clone(), sizes, config, Head::Mask);
        comparison.tensor("mask_features", pooled.clone());
        comparison.tensor("mask_logits", heads.masks(pooled).unwrap());
    }
    if config.keypoint_head.is_some() {
        let pooled = pool_regions(&levels, boxes, sizes, config, Head::Keypoint);
        comparison.tensor("keypoint_features", pooled.clone());
        comparison.tensor("keypoint_logits", heads.keypoints(pooled).unwrap());
    }
    for (image, instances) in detector.detect(&pictures).iter().enumerate() {
        comparison.detections(image, instances);
    }
}

/// The shipped recording of a model, on Flex: on NdArray all of them take minutes.
fn narrow(name: &str) {
    let recordings = read(include_bytes!("recordings.safetensors"));
    let recording = recordings.iter().find(|recording| recording.name == name).unwrap();
    let weights = recording.weights().unwrap();
    compare(recording, weights, NameTable::torchvision, &Device::flex(), "flex");
}

#[test]
fn fasterrcnn_resnet50_fpn() {
    narrow("fasterrcnn_resnet50_fpn");
}

#[test]
fn fasterrcnn_resnet50_fpn_v2() {
    narrow("fasterrcnn_resnet50_fpn_v2");
}

#[test]
fn fasterrcnn_mobilenet_v3_large_fpn() {
    narrow("fasterrcnn_mobilenet_v3_large_fpn");
}

#[test]
fn fasterrcnn_mobilenet_v3_large_320_fpn() {
    narrow("fasterrcnn_mobilenet_v3_large_320_fpn");
}

#[test]
fn maskrcnn_resnet50_fpn() {
    narrow("maskrcnn_resnet50_fpn");
}

#[test]
fn maskrcnn_resnet50_fpn_v2() {
    narrow("maskrcnn_resnet50_fpn_v2");
}

#[test]
fn keypointrcnn_resnet50_fpn() {
    narrow("keypointrcnn_resnet50_fpn");
}

/// Those that `record.py` wrote into the folder, on all backends.
#[test]
fn recordings_of_the_folder() {
    for (folder, recording) in of_folder("MODEL_RECORDINGS") {
        let checkpoint = folder.join(format!("{}.pth", recording.name));
        let weights = recording.weights();
        let weights = weights.unwrap_or_else(|| StateDict::read(checkpoint).unwrap());
        for backend in backends() {
            let names = NameTable::torchvision;
            compare(&recording, weights.clone(), names, &backend.device, backend.name);
        }
    }
}
