//! Detection with layers of f16 and bf16.

use burn::tensor::{DType, Device, FloatDType};
use burn_roi_detection::DetectionError;
use burn_roi_detection::models::{Detector, Picture};
use burn_roi_detection::train::{LearningRateSchedule, Trainer, TrainerConfig, with_new_classes};
use burn_roi_detection::weights::{NameTable, StateDict};

use super::narrow::narrow;
use crate::backends::{Backend, backends};

const NAMES: [&str; 3] = [
    "fasterrcnn_mobilenet_v3_large_320_fpn",
    "maskrcnn_resnet50_fpn_v2",
    "keypointrcnn_resnet50_fpn",
];

#[test]
fn predictions_are_near_and_results_are_f32() {
    let pixels: Vec<u8> = (0..64 * 96 * 3).map(|index| (index * 7919 % 251) as u8).collect();
    let picture = Picture::try_from_rgb([64, 96], &pixels).unwrap();
    let hosts = backends().into_iter().filter(Backend::is_host);
    for Backend { name, device } in hosts.filter(|backend| backend.supports(DType::F16)) {
        for model in NAMES {
            let exact = Detector::new(narrow(model), &device);
            let objectness = |detector: &Detector| -> Vec<f32> {
                let images = detector.prepare(std::slice::from_ref(&picture));
                let levels = detector.feature_pyramid(detector.body(&images));
                let predicted = detector.region_predictions(&levels).objectness;
                predicted
                    .into_iter()
                    .flat_map(|map| map.into_data().convert::<f32>().try_into_vec::<f32>().unwrap())
                    .collect()
            };
            let expected = objectness(&exact);
            let largest = expected
                .iter()
                .fold(0.0, |largest: f32, value| largest.max(value.abs()));
            for (dtype, tolerance) in [
                (FloatDType::F32, 0.0),
                (FloatDType::F16, 0.01),
                (FloatDType::BF16, 0.05),
            ] {
                let detector = exact.clone().with_layers_dtype(dtype);
                let differences = objectness(&detector)
                    .into_iter()
                    .zip(&expected)
                    .map(|(found, exact)| found - exact);
                let difference = differences.fold(0.0, |most: f32, difference| most.max(difference.abs()));
                assert!(
                    difference <= tolerance * largest,
                    "{name}, {model}, {dtype:?}: {difference} of {largest}"
                );
                assert_eq!(difference > 0.0, dtype != FloatDType::F32, "{name}, {model}, {dtype:?}");
                let found = detector.detect(std::slice::from_ref(&picture)).remove(0);
                assert!(!found.is_empty(), "{name}, {model}, {dtype:?}");
                assert_eq!(
                    found.masks.len(),
                    if model.starts_with("mask") { found.len() } else { 0 }
                );
                assert!(
                    found
                        .class_masks
                        .as_ref()
                        .is_none_or(|masks| masks.dtype() == DType::F32)
                );
                assert_eq!(
                    found.keypoints.len(),
                    if model.starts_with("key") { found.len() } else { 0 }
                );
            }
        }
    }
}

#[test]
fn what_is_replaced_later_is_cast_too() {
    let device = Device::flex();
    let of_f32 = Detector::new(narrow(NAMES[1]), &device);
    let mut halves = Detector::new(narrow(NAMES[1]), &device).with_layers_dtype(FloatDType::F16);
    let expected = found(&of_f32.clone().with_layers_dtype(FloatDType::F16));
    let state = StateDict::of(&of_f32, NameTable::torchvision).unwrap();
    state.clone().load_into(&mut halves, NameTable::torchvision).unwrap();
    assert_eq!(found(&halves), expected);

    let mut others = Detector::new(narrow(NAMES[1]), &device).with_layers_dtype(FloatDType::F16);
    state.load_backbone_into(&mut others).unwrap();
    assert!(!found(&others).is_empty());
    let classes = of_f32.config().classes.clone();
    let heads = of_f32.heads().clone();
    let with_heads = halves.clone().try_with_heads(heads, classes.clone()).unwrap();
    assert_eq!(found(&with_heads), expected);

    let new = with_new_classes(halves, classes[..2].to_vec()).unwrap();
    assert!(!found(&new).is_empty());
    let config = TrainerConfig::new(LearningRateSchedule::new(0.1));
    let error = Trainer::try_new(new, config).map(|_| ()).unwrap_err().to_string();
    let expected = "`detector` is with layers of F16, but must be with layers of f32, which `half_precision` casts for \
        each step";
    assert_eq!(error, expected);
}

/// Boxes and scores of what is found in a picture.
fn found(detector: &Detector) -> Vec<([f32; 4], f32)> {
    let pixels: Vec<u8> = (0..64 * 64 * 3).map(|index| (index * 7919 % 251) as u8).collect();
    let found = detector
        .detect(&[Picture::try_from_rgb([64, 64], &pixels).unwrap()])
        .remove(0);
    found.boxes.into_iter().zip(found.scores).collect()
}

#[test]
fn a_dtype_that_the_device_lacks() {
    for Backend { name, device } in backends().into_iter().filter(|backend| !backend.supports(DType::F16)) {
        let detector = Detector::new(narrow(NAMES[1]), &device);
        let error: DetectionError = detector.try_with_layers_dtype(FloatDType::F16).unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("`dtype` is of dtype F16, but must be of a dtype that "),
            "{name}: {text}"
        );
    }
}
