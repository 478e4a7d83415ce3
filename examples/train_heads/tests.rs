//! Whole runs: that training lowers the loss, and survives interruptions. `--compare` checks that it is torchvision's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs, process};

use burn::lr_scheduler::constant::ConstantLr;
use burn::module::Module;
use burn::optim::AdamWConfig;
use burn::tensor::{Device, TensorData};
use burn::train::Learner;
use burn_roi_detection::models::{Detector, RoiHeads};
use burn_roi_detection::weights::{NameTable, StateDict};
use clap::Parser;
use detection_head::{BackendName, CONFIG, config};

use crate::arguments::Arguments;
use crate::data::{Frozen, PictureLoader, Pictures};
use crate::error::Error;
use crate::learning::{Run, Settings, TrainedHeads, grown};

fn detector() -> Detector {
    crate::shipped(config::read(Path::new(CONFIG)).unwrap(), &Device::flex()).unwrap()
}

/// A run of two epochs with a picture each.
fn settings() -> Settings {
    let arguments = Arguments::parse_from(["train_heads", "--epochs", "2", "--batches", "1", "--batch-size", "1"]);
    arguments.settings()
}

fn temporary(name: &str) -> PathBuf {
    env::temp_dir().join(format!("burn-roi-{}-{name}", process::id()))
}

/// The trained weights by name.
fn trained(run: &Run) -> BTreeMap<String, TensorData> {
    let devices = BackendName::Flex.devices(run.settings.devices).unwrap();
    let trained = crate::train(detector(), run, devices).unwrap();
    StateDict::of(&trained, NameTable::torchvision).unwrap().tensors
}

#[test]
fn a_few_steps_lower_the_loss_and_move_every_weight() {
    let detector = detector();
    let frozen = Frozen::new(detector.clone()).unwrap();
    let heads = TrainedHeads::new(grown(detector.model().roi_heads.clone(), 0), detector.config(), 1);
    let heads = heads.train().fork(&detector.device().clone().autodiff());
    let pictures = Pictures {
        seed: 4,
        batches: 1,
        batch_size: 1,
        fresh: false,
    };
    let loader: Arc<dyn burn::data::dataloader::DataLoader<_>> =
        Arc::new(PictureLoader::new(pictures, Arc::new(frozen), 0));
    let before: RoiHeads = heads.valid().heads;
    let mut learner = Learner::new(heads, AdamWConfig::new().init(), ConstantLr::new(1e-3));
    let mut totals = Vec::new();
    for _ in 0..4 {
        let batch = loader.iter().next().unwrap().unwrap();
        let output = learner.train_step(batch);
        learner.lr_step();
        learner.optimizer_step(output.grads);
        totals.push(output.item.values().unwrap().iter().sum::<f32>());
    }
    assert!(totals[3] < totals[0], "{totals:?}");

    let device = detector.device().clone();
    let (mut config, model) = detector.into_parts();
    config.classes.push("cross".to_string());
    let states = [before, learner.model().valid().heads].map(|heads| {
        let mut detector = Detector::try_from_model(config.clone(), model.clone(), &device).unwrap();
        detector.model_mut().roi_heads = heads;
        StateDict::of(&detector, NameTable::torchvision).unwrap().tensors
    });
    for (name, weights) in &states[0] {
        let is_same = states[1][name] == *weights;
        assert_eq!(is_same, !name.starts_with("roi_heads."), "of {name}");
    }
}

#[test]
fn a_run_that_was_interrupted_ends_as_one_that_was_not() {
    let folder = temporary("run");
    let open = || Run::open(folder.clone(), settings(), false).unwrap();
    let whole = trained(&open());
    assert_eq!(open().done, 2);
    // As if it had stopped while it saved the second epoch.
    fs::remove_file(folder.join("checkpoint/optim-2.bpk")).unwrap();
    assert_eq!(open().done, 1);
    assert!(trained(&open()) == whole);
    open().remove().unwrap();
    assert!(!folder.exists());
}

#[test]
fn two_devices_train_together() {
    let settings = Settings {
        epochs: 1,
        devices: 2,
        batches: 2,
        ..settings()
    };
    let run = Run::open(temporary("devices"), settings, false).unwrap();
    trained(&run);
    assert_eq!(
        Run::open(run.folder().to_owned(), run.settings.clone(), false)
            .unwrap()
            .done,
        1
    );
    run.remove().unwrap();
}

#[test]
fn another_run_is_not_continued() {
    let folder = temporary("other");
    let open = |seed, restart| Run::open(folder.clone(), Settings { seed, ..settings() }, restart);
    open(0, false).unwrap();
    let error = open(5, false).err().unwrap();
    assert!(matches!(error, Error::OtherRun { .. }), "{error}");
    open(5, true).unwrap().remove().unwrap();
}

#[test]
fn arguments_that_are_wrong_are_named() {
    for (argument, value) in [
        ("--epochs", "0"),
        ("--batches", "-1"),
        ("--rate", "nan"),
        ("--rate", "2"),
        ("--devices", "none"),
        ("--backend", "none"),
    ] {
        let error = Arguments::try_parse_from(["train_heads", argument, value])
            .unwrap_err()
            .to_string();
        assert!(error.contains(argument), "{error}");
    }
    let settings = Settings {
        devices: 2,
        ..settings()
    };
    let run = Run::open(temporary("arguments"), settings, false).unwrap();
    let devices = BackendName::Flex.devices(2).unwrap();
    let error = crate::train(detector(), &run, devices).err().unwrap().to_string();
    run.remove().unwrap();
    assert_eq!(error, "--batches must be at least the number of devices, 2, not 1");
}
