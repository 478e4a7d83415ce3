//! Steps of SGD on whole detectors, compared with those in torch that `record.py` wrote.

use std::collections::BTreeMap;

use burn::tensor::{DType, Device, TensorData};
use burn_roi_detection::models::Detector;
use burn_roi_detection::train::{
    DetectorLossConfig, LearningRateSchedule, Object, Sample, Trainer, TrainerConfig, TrainingBatch,
};
use burn_roi_detection::weights::{NameTable, StateDict};
use burn_roi_detection::{RunLengths, TrainingSamplesConfig, random_permutations};
use safetensors::{Dtype, SafeTensors};

use super::configs::config;
use crate::backends::{Backend, backends};

pub const SIDE: usize = 64;
const BATCHES: usize = 2;
const BATCH_SIZE: usize = 2;
/// The largest difference of a loss relative to it, and of a weight relative to the largest change of its tensor. A
/// few millionths were seen, so that a single choice by another rounding shows.
const TOLERANCE: f64 = 1e-5;

/// The tensors of a file that `record.py` wrote.
pub struct Recording {
    tensors: BTreeMap<String, TensorData>,
    /// The names of the losses of each detector.
    losses: serde_json::Value,
}

impl Recording {
    /// That of torchvision's detectors.
    pub fn read() -> Self {
        Self::from_bytes(include_bytes!("steps.safetensors"))
    }

    /// That of a detector.
    pub fn of(kind: &str) -> Self {
        match kind {
            "cascade" => Self::from_bytes(include_bytes!("cascade.safetensors")),
            "groups" => Self::from_bytes(include_bytes!("groups.safetensors")),
            "vit" => Self::from_bytes(include_bytes!("vit.safetensors")),
            _ => Self::read(),
        }
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let file = SafeTensors::deserialize(bytes).expect("the file should be whole");
        let (_, header) = SafeTensors::read_metadata(bytes).expect("the file should have a header");
        let metadata = header.metadata().as_ref().expect("there should be metadata");
        let tensors = file.tensors().into_iter().map(|(name, view)| {
            let dtype = match view.dtype() {
                Dtype::F32 => DType::F32,
                Dtype::I64 => DType::I64,
                Dtype::I16 => DType::I16,
                Dtype::U8 => DType::U8,
                dtype => panic!("{name} is of dtype {dtype:?}"),
            };
            let data = TensorData::from_bytes_vec(view.data().to_vec(), view.shape().to_vec(), dtype);
            (name, data)
        });
        Self {
            tensors: tensors.collect(),
            losses: serde_json::from_str(&metadata["losses"]).expect("the losses should be JSON"),
        }
    }

    fn floats(&self, name: &str) -> Vec<f32> {
        self.tensors[name].iter::<f32>().collect()
    }

    fn ints(&self, name: &str) -> Vec<usize> {
        self.tensors[name].iter::<i64>().map(|value| value as usize).collect()
    }

    /// The pictures and objects of a batch.
    pub fn samples(&self, batch: usize) -> Vec<Sample> {
        let pixels: Vec<u8> = self.tensors[&format!("pixels.{batch}")].iter::<u8>().collect();
        let pictures = pixels.chunks(SIDE * SIDE * 3).enumerate();
        let samples = pictures.map(|(index, pixels)| {
            let of = |name: &str| format!("{name}.{batch}.{index}");
            let (boxes, keypoints) = (self.floats(&of("boxes")), self.floats(&of("keypoints")));
            let masks: Vec<bool> = self.ints(&of("masks")).into_iter().map(|pixel| pixel > 0).collect();
            let labels = self.ints(&of("labels"));
            let objects = labels.iter().enumerate().map(|(row, &label)| Object {
                corners: boxes.as_chunks().0[row],
                label,
                mask: Some(RunLengths::from_pixels(
                    &masks[row * SIDE * SIDE..][..SIDE * SIDE],
                    [SIDE; 2],
                )),
                keypoints: keypoints.as_chunks().0[3 * row..][..3].to_vec(),
            });
            Sample::new([SIDE; 2], pixels.to_vec(), objects.collect())
        });
        samples.collect()
    }

    /// The weights before the first step.
    pub fn weights(&self, kind: &str) -> StateDict {
        let prefix = format!("{kind}/weights/");
        let weights = self.tensors.iter().filter_map(|(name, data)| {
            let name = name.strip_prefix(&prefix)?;
            Some((name.to_string(), data.clone()))
        });
        StateDict {
            tensors: weights.collect(),
        }
    }

    /// The recorded orders of a step, call by call.
    fn permutations(&self, kind: &str, step: usize) -> impl FnMut(usize) -> Vec<usize> {
        let mut calls = 0..4 * BATCH_SIZE;
        move |_| {
            let call = calls.next().expect("torch.randperm should have been called as often");
            self.ints(&format!("{kind}/permutation.{step}.{call}"))
        }
    }
}

/// A detector with the weights before the first step.
pub fn detector(recording: &Recording, kind: &str, device: &Device) -> Detector {
    let mut detector = Detector::new(config(kind), device);
    let state = recording.weights(kind);
    state.load_into(&mut detector, NameTable::torchvision).unwrap();
    detector
}

/// The options of the recorded steps.
pub fn trainer_config() -> TrainerConfig {
    let samples = TrainingSamplesConfig {
        batch_size_per_image: 32,
        ..TrainingSamplesConfig::new()
    };
    let losses = DetectorLossConfig {
        pre_nms_top_n: 20,
        post_nms_top_n: 40,
        samples,
        ..DetectorLossConfig::new()
    };
    TrainerConfig {
        losses,
        ..TrainerConfig::new(LearningRateSchedule::new(0.005))
    }
}

#[track_caller]
fn near(actual: f64, expected: f64, tolerance: f64, place: &str) {
    let difference = (actual - expected).abs();
    assert!(
        difference <= tolerance * expected.abs(),
        "{place} is {actual}, but should be {expected}"
    );
}

/// Repeats the first steps of a detector.
fn check(kind: &str, steps: usize) {
    let recording = Recording::of(kind);
    let names: Vec<String> = serde_json::from_value(recording.losses[kind].clone()).unwrap();
    let recorded = recording.floats(&format!("{kind}/losses"));
    // Kernels of GPUs are tested by themselves: this is about the order of the steps.
    for backend in backends().into_iter().filter(Backend::is_host) {
        // Burn's NdArray has no gradient of bilinear interpolation, which the keypoint head ends with. Unoptimized, it
        // takes half a minute for three steps of a mask head.
        let steps = match (backend.name, kind) {
            ("ndarray", "keypoint") => continue,
            ("ndarray", _) => steps.min(1),
            _ => steps,
        };
        let (mut options, mut tolerance) = (trainer_config(), TOLERANCE);
        if kind == "vit" {
            options.frozen_stages = 0;
        }
        if kind == "cascade" {
            options.losses.smooth_l1_beta = 0.0;
            // The box deltas of the last stage are multiplied by up to 30, and their rounding with them.
            tolerance *= 3.0;
        }
        let mut trainer = Trainer::try_new(detector(&recording, kind, &backend.device), options).unwrap();
        let batches: Vec<TrainingBatch> = (0..BATCHES)
            .map(|batch| TrainingBatch::new(&recording.samples(batch), &config(kind), &backend.device))
            .collect();
        for (step, recorded) in recorded.chunks(names.len()).enumerate().take(steps) {
            let permutation = &mut recording.permutations(kind, step);
            let taken = trainer.step_with(&batches[step % BATCHES], permutation).unwrap();
            assert_eq!(taken.losses.len(), names.len());
            for (name, loss) in taken.losses {
                let place = names.iter().position(|other| other == name).expect("a recorded loss");
                let description = format!("{kind}: {name} of step {step} on {}", backend.name);
                near(loss.into(), recorded[place].into(), tolerance, &description);
            }
        }
        let time = match steps {
            3 => "short",
            _ if steps >= recorded.len() / names.len() => "end",
            _ => continue,
        };
        let state = StateDict::of(&trainer.detector().unwrap(), NameTable::torchvision).unwrap();
        let checked = check_weights(&recording, &format!("{kind}/{time}/"), &state);
        assert_eq!(
            checked > 0,
            time == "end" || ["cascade", "groups", "vit"].contains(&kind)
        );
    }
}

/// Compares weights with those recorded under a prefix, relative to their largest change, and returns how many.
fn check_weights(recording: &Recording, prefix: &str, state: &StateDict) -> usize {
    let kind = prefix.split('/').next().unwrap();
    let kept = recording.tensors.keys().filter_map(|name| name.strip_prefix(prefix));
    let mut checked = 0;
    for name in kept {
        checked += 1;
        let actual: Vec<f32> = state.tensors[name].iter::<f32>().collect();
        let expected = recording.floats(&format!("{prefix}{name}"));
        let start = recording.floats(&format!("{kind}/weights/{name}"));
        let largest = |left: &[f32], right: &[f32]| {
            let differences = left.iter().zip(right).map(|(left, right)| (left - right).abs());
            differences.fold(0.0, f32::max)
        };
        let (difference, change) = (largest(&actual, &expected), largest(&start, &expected));
        assert!(
            f64::from(difference) <= 100.0 * TOLERANCE * f64::from(change),
            "{kind}: {name} changed by {change} and differs by {difference}"
        );
    }
    checked
}

/// All of the recorded steps, or the first ones in a short run: `TRAINING_STEPS=20` takes all.
fn steps() -> usize {
    let steps = std::env::var("TRAINING_STEPS").ok();
    steps.map_or(3, |steps| steps.parse().expect("TRAINING_STEPS should be a number"))
}

#[test]
fn faster_rcnn_learns_as_in_torchvision() {
    check("faster", steps());
}

#[test]
fn mask_rcnn_learns_as_in_torchvision() {
    check("mask", steps());
}

/// torchvision's detector with torch's `GroupNorm` in its body, its pyramid and its heads.
#[test]
fn group_norms_learn_as_in_torch() {
    check("groups", steps());
}

/// torchvision's Mask R-CNN with the body, the pyramid and the norms of ViTDet, which are written after detectron2's
/// source. It has no stochastic depth.
#[test]
fn vitdet_learns_as_in_torch() {
    check("vit", steps());
}

#[test]
fn keypoint_rcnn_learns_as_in_torchvision() {
    check("keypoint", steps());
}

/// The reference is written after detectron2's source, from torchvision's parts.
#[test]
fn cascade_rcnn_learns_as_in_detectron2() {
    check("cascade", steps());
}

/// The random choice of a step, which the seed decides, is no other than this one.
#[test]
fn a_step_draws_by_its_permutation() {
    let recording = Recording::read();
    let device = Device::flex();
    let batch = TrainingBatch::new(&recording.samples(0), &config("faster"), &device);
    let losses = |seed| {
        let mut trainer = Trainer::try_new(detector(&recording, "faster", &device), trainer_config()).unwrap();
        trainer
            .step_with(&batch, &mut random_permutations(seed))
            .unwrap()
            .losses
    };
    assert_eq!(losses(1), losses(1));
    assert_ne!(losses(1), losses(2));
}
