//! Detectors on a body of the caller's.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{env, fs, process};

use burn::module::{Module, Param, ParamId};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig};
use burn::tensor::activation::relu;
use burn::tensor::{Bool, Device, Int, Tensor};
use burn_roi_detection::RunLengths;
use burn_roi_detection::models::{
    BodyConfig, BodyMap, CustomBody, CustomBodyConfig, Detector, DetectorConfig, Picture,
};
use burn_roi_detection::train::{HalfPrecision, Trainer, TrainerConfig, TrainingBatch, with_new_classes};
use burn_roi_detection::weights::{self, NameTable, StateDict, read_config};

use super::configs::config as recorded_config;
use super::parity::{Recording, trainer_config};
use crate::backends::{Backend, backends};
use crate::bad_input::assert_error;

/// Three layers, with every kind of parameter that Burn has.
#[derive(Module, Debug)]
struct Body {
    stem: Conv2d,
    norm: BatchNorm,
    second: Conv2d,
    third: Conv2d,
    /// Which channels of the stem are kept.
    kept: Param<Tensor<1, Bool>>,
    /// What is added to each channel of the second layer.
    offsets: Param<Tensor<1, Int>>,
    /// Whether it returns other maps than it says.
    #[module(skip)]
    lies: bool,
}

impl Body {
    fn new(device: &Device) -> Self {
        let convolution = |channels, side| {
            Conv2dConfig::new(channels, [side; 2])
                .with_stride([side; 2])
                .init(device)
        };
        Self {
            stem: convolution([3, 4], 4),
            norm: BatchNormConfig::new(4).init(device),
            second: convolution([4, 6], 2),
            third: convolution([6, 8], 2),
            kept: Param::initialized(ParamId::new(), Tensor::from_bool([true, true, false, true], device)),
            offsets: Param::initialized(ParamId::new(), Tensor::from_ints([0, 1, 2, 3, 4, 5], device)),
            lies: false,
        }
    }
}

impl CustomBody for Body {
    fn maps(&self) -> Vec<BodyMap> {
        let map = |(name, channels): (&str, usize)| BodyMap::new(name.to_string(), channels);
        [("stem", 4), ("second", 6), ("third", 8)].map(map).to_vec()
    }

    fn forward(&self, input: Tensor<4>) -> Vec<Tensor<4>> {
        let kept = self.kept.val().float().reshape([1, 4, 1, 1]);
        let stem = relu(self.norm.forward(self.stem.forward(input))) * kept;
        let offsets = self.offsets.val().float().reshape([1, 6, 1, 1]);
        let second = relu(self.second.forward(stem.clone())) + offsets;
        let third = relu(self.third.forward(second.clone()));
        match self.lies {
            true => vec![stem, third],
            false => vec![stem, second, third],
        }
    }

    fn with_frozen_stages(mut self, stages: usize) -> Self {
        if stages > 0 {
            (self.stem, self.norm) = (self.stem.freeze(), self.norm.freeze());
        }
        if stages > 1 {
            self.second = self.second.freeze();
        }
        if stages > 2 {
            self.third = self.third.freeze();
        }
        self
    }
}

/// A config that reads these maps.
fn config(maps: &[(&str, usize)]) -> DetectorConfig {
    let maps = maps
        .iter()
        .map(|(name, channels)| BodyMap::new(name.to_string(), *channels));
    let body = BodyConfig::Custom(CustomBodyConfig::new(maps.collect()));
    let mut config = DetectorConfig {
        body,
        ..recorded_config("mask")
    };
    config.region_proposals.anchor_sizes.truncate(3);
    config.box_head.score_threshold = 1e-6;
    config.box_head.detections_per_image = 3;
    config
}

fn two_maps() -> DetectorConfig {
    config(&[("second", 6), ("third", 8)])
}

fn detector(device: &Device) -> Detector {
    Detector::from_body(two_maps(), Body::new(device), device)
}

fn batch(index: usize, device: &Device) -> TrainingBatch {
    TrainingBatch::new(&Recording::read().samples(index), &two_maps(), device)
}

fn state(detector: &Detector) -> StateDict {
    StateDict::of(detector, NameTable::torchvision).unwrap()
}

/// Boxes, scores, labels and masks.
type Found = (Vec<[f32; 4]>, Vec<f32>, Vec<usize>, Vec<RunLengths>);

/// What is found in each picture of a batch.
fn found(detector: &Detector) -> Vec<Found> {
    let samples = Recording::read().samples(0);
    let pictures = samples
        .iter()
        .map(|sample| Picture::try_from_rgb(sample.size, &sample.pixels).unwrap());
    let found = detector.detect(&pictures.collect::<Vec<_>>()).into_iter();
    let found = found
        .map(|found| (found.boxes, found.scores, found.labels, found.masks))
        .collect::<Vec<_>>();
    assert!(
        found
            .iter()
            .all(|(_, scores, _, masks)| scores.len() == 3 && masks.len() == 3)
    );
    found
}

fn folder(name: &str) -> std::path::PathBuf {
    env::temp_dir().join(format!("burn-roi-{}-{name}", process::id()))
}

#[test]
fn maps_are_chosen_by_name() {
    for Backend { device, .. } in backends() {
        let body = Body::new(&device);
        let detector = Detector::from_body(two_maps(), body.clone(), &device);
        let pixels = [100; 64 * 64 * 3];
        let images = detector.prepare(&[Picture::try_from_rgb([64, 64], &pixels).unwrap()]);
        let expected = body.forward(images.tensors.clone());
        let read = detector.body(&images);
        assert_eq!(read.len(), 2);
        for (read, expected) in read.into_iter().zip(&expected[1..]) {
            assert_eq!(read.into_data(), expected.clone().into_data());
        }
        assert_eq!(detector.feature_pyramid(detector.body(&images)).len(), 3);
    }
}

#[test]
fn it_detects_on_other_devices_and_from_files() {
    let flex = Device::flex();
    let detector = detector(&flex);
    let expected = found(&detector);
    let folder = folder("custom-body");
    weights::save(&detector, &folder).unwrap();
    let config = read_config(folder.join("config.json")).unwrap();
    assert_eq!(config, *detector.config());
    let mut loaded = Detector::from_body(config, Body::new(&flex), &flex);
    assert_ne!(found(&loaded), expected);
    weights::load(folder.join("weights.safetensors"), &mut loaded).unwrap();
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(found(&loaded), expected);

    for Backend { name, device } in backends().into_iter().filter(Backend::is_host) {
        let there = found(&detector.clone().fork(&device));
        let first_scores = |found: &[Found]| found.iter().map(|found| found.1[0]).collect::<Vec<_>>();
        for (score, expected) in first_scores(&there).into_iter().zip(first_scores(&expected)) {
            assert!((score - expected).abs() < 1e-4, "{name}: {score} {expected}");
        }
    }
}

#[test]
fn a_backbone_alone_is_loaded_by_the_names_of_its_fields() {
    let flex = Device::flex();
    let (trained, mut new) = (state(&detector(&flex)), detector(&flex));
    let heads = state(&new);
    let body = trained.tensors.iter().filter_map(|(name, data)| {
        let name = name.strip_prefix("backbone.body.")?;
        Some((name.to_string(), data.clone()))
    });
    let body = StateDict {
        tensors: body.collect(),
    };
    assert!(body.tensors.contains_key("second.weight"));
    body.load_backbone_into(&mut new).unwrap();
    for (name, data) in state(&new).tensors {
        let expected = if name.starts_with("backbone.body.") {
            &trained
        } else {
            &heads
        };
        assert_eq!(data, expected.tensors[&name], "{name}");
    }
}

#[test]
fn all_of_it_trains_but_frozen_stages() {
    let flex = Device::flex();
    let start = detector(&flex);
    for frozen in 0..4 {
        let options = TrainerConfig {
            frozen_stages: frozen,
            ..trainer_config()
        };
        let mut trainer = Trainer::try_new(start.clone(), options).unwrap();
        trainer.step(&batch(0, &flex)).unwrap();
        let (before, after) = (state(&start), state(&trainer.detector().unwrap()));
        let stages = [
            ("stem.weight", 0),
            ("norm.weight", 0),
            ("norm.running_mean", 0),
            ("second.weight", 1),
        ];
        for (name, stage) in stages.into_iter().chain([("third.weight", 2)]) {
            let name = format!("backbone.body.{name}");
            let moved = before.tensors[&name] != after.tensors[&name];
            assert_eq!(moved, stage >= frozen, "{name} with {frozen} frozen stages");
        }
    }
}

#[test]
fn an_interrupted_training_ends_as_one_that_was_not() {
    let flex = Device::flex();
    let start = detector(&flex);
    let path = folder("custom-body-checkpoint");
    let mut whole = Trainer::try_new(start.clone(), trainer_config()).unwrap();
    whole.step(&batch(0, &flex)).unwrap();
    whole.save(&path).unwrap();
    whole.step(&batch(1, &flex)).unwrap();
    let mut resumed = Trainer::try_new(detector(&flex), trainer_config()).unwrap();
    resumed.load(&path).unwrap();
    fs::remove_file(&path).unwrap();
    resumed.step(&batch(1, &flex)).unwrap();
    let [whole, resumed] = [whole, resumed].map(|trainer| state(&trainer.detector().unwrap()));
    assert!(whole == resumed);
}

#[test]
fn it_trains_in_half_precision_on_several_devices_and_for_other_classes() {
    let flex = Device::flex();
    let classes = ["background", "only"].map(String::from).to_vec();
    let detector = with_new_classes(detector(&flex), classes).unwrap();
    assert_eq!(detector.config().classes.len(), 2);
    let mut samples = Recording::read().samples(0);
    for object in samples.iter_mut().flat_map(|sample| &mut sample.objects) {
        object.label = 1;
    }
    let others = backends().into_iter().filter(|other| other.name == "ndarray");
    let devices: Vec<Device> = [flex].into_iter().chain(others.map(|other| other.device)).collect();
    for (half_precision, devices) in [(None, &devices[..]), (Some(HalfPrecision::BF16), &devices[..1])] {
        let options = TrainerConfig {
            half_precision,
            ..trainer_config()
        };
        let mut trainer = Trainer::try_new(detector.clone(), options).unwrap();
        let batches = devices
            .iter()
            .map(|device| TrainingBatch::new(&samples, detector.config(), device));
        trainer.step_batches(&batches.collect::<Vec<_>>()).unwrap();
        assert!(state(&trainer.detector().unwrap()) != state(&detector));
    }
}

#[test]
fn bodies_that_do_not_fit() {
    let flex = Device::flex();
    let body = || Body::new(&flex);
    assert_error(
        Detector::try_new(two_maps(), &flex),
        "`body` is custom, but must be a body of this crate; `Detector::try_from_body` takes one of your own",
    );
    assert_error(
        Detector::try_from_body(recorded_config("mask"), body(), &flex),
        "`config.body` is a body of this crate, but must be `BodyConfig::Custom`",
    );
    for map in [("fourth", 8), ("third", 7)] {
        let error = Detector::try_from_body(config(&[("second", 6), map]), body(), &flex)
            .unwrap_err()
            .to_string();
        let start = format!(
            "`config.body.maps` is BodyMap {{ name: {:?}, channels: {} }} of a body with [",
            map.0, map.1
        );
        assert!(error.starts_with(&start), "{error}");
        assert!(
            error.ends_with("but must be a map of the body, with its number of channels"),
            "{error}"
        );
    }
    assert_error(config(&[]).check(), "`body.maps` is 0, but must be from 1 to 128");
    assert_error(
        config(&[("second", 0), ("third", 8)]).check(),
        "`body.maps.channels` is 0, but must be from 1 to 32768",
    );
    if let Some(other) = backends().into_iter().find(|backend| backend.name == "ndarray") {
        let error = Detector::try_from_body(two_maps(), Body::new(&other.device), &flex)
            .unwrap_err()
            .to_string();
        assert!(
            error.ends_with("but must be on the detector's device, with autodiff if that has it"),
            "{error}"
        );
    }
}

#[test]
fn a_body_that_returns_other_maps_than_it_says() {
    let flex = Device::flex();
    let mut body = Body::new(&flex);
    body.lies = true;
    let detector = Detector::from_body(two_maps(), body, &flex);
    let picture = Picture::try_from_rgb([4, 4], &[0; 48]).unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| detector.detect(&[picture]))).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(
        text.contains("returned maps of [4, 8] channels, but must return its `maps`"),
        "{text}"
    );
}
