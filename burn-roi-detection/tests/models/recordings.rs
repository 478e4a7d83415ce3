//! torchvision's seven detectors, narrow and with random weights, compared part by part with torchvision. Recordings of
//! other widths are those in the folder `MODEL_RECORDINGS`.

use std::path::Path;
use std::{env, fs};

use burn::tensor::Device;
use burn_roi_detection::models::{Detector, Head, pool_regions};
use burn_roi_detection::weights::{NameTable, StateDict};

use super::comparison::Comparison;
use super::recording::{Recording, pictures, read};
use crate::backends::backends;

/// The parts after the proposals get the recorded proposals, and those after the detections the recorded detections:
/// two runs can order proposals of nearly equal scores differently. Last comes a whole run.
fn compare(recording: &Recording, weights: StateDict, device: &Device, name: &str) {
    let mut detector = Detector::new(recording.config(), device);
    weights.load_into(&mut detector, NameTable::torchvision).unwrap();
    let comparison = Comparison::new(recording);
    println!("on {name}");
    let pixels = recording.pixels();
    let pictures = pictures(&pixels);
    let images = detector.prepare(&pictures);
    comparison.tensor("input", images.tensors.clone());
    let (config, model) = (detector.config(), detector.model());
    let maps = model.backbone.body.forward(images.tensors.clone());
    for (index, map) in maps.iter().enumerate() {
        comparison.tensor(&format!("body.{index}"), map.clone());
    }
    let levels = model.backbone.levels(maps);
    for (index, level) in levels.iter().enumerate() {
        comparison.tensor(&format!("levels.{index}"), level.clone());
    }
    let predicted = model.rpn.head.forward(&levels);
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
    let (logits, deltas) = model.roi_heads.boxes(pooled);
    comparison.tensor("class_logits", logits);
    comparison.tensor("box_regression", deltas);
    let boxes = recording.boxes("boxes", device);
    if config.mask_head.is_some() {
        let pooled = pool_regions(&levels, boxes.clone(), sizes, config, Head::Mask);
        comparison.tensor("mask_features", pooled.clone());
        comparison.tensor("mask_logits", model.roi_heads.masks(pooled).unwrap());
    }
    if config.keypoint_head.is_some() {
        let pooled = pool_regions(&levels, boxes, sizes, config, Head::Keypoint);
        comparison.tensor("keypoint_features", pooled.clone());
        comparison.tensor("keypoint_logits", model.roi_heads.keypoints(pooled).unwrap());
    }
    for (image, instances) in detector.detect(&pictures).iter().enumerate() {
        comparison.detections(image, instances);
    }
}

/// The shipped recordings of a model, on each backend.
fn narrow(name: &str) {
    let recordings = read(include_bytes!("recordings.safetensors"));
    let recording = recordings.iter().find(|recording| recording.name == name).unwrap();
    for backend in backends() {
        compare(recording, recording.weights(), &backend.device, backend.name);
    }
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

/// Those that `record.py --wide` wrote into the folder.
#[test]
fn recordings_of_the_folder() {
    let Ok(folder) = env::var("MODEL_RECORDINGS") else {
        return;
    };
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut count = 0;
    for file in files.filter(|file| file.extension().is_some_and(|ending| ending == "safetensors")) {
        for recording in read(&fs::read(&file).unwrap()) {
            for backend in backends() {
                let weights = StateDict::read(Path::new(&folder).join(format!("{}.pth", recording.name))).unwrap();
                compare(&recording, weights, &backend.device, backend.name);
                count += 1;
            }
        }
    }
    assert!(count > 0, "there is no recording in {folder}");
}
