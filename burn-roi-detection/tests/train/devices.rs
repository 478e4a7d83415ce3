//! Steps with several batches, on one device and on several.

use burn::tensor::Device;
use burn_roi_detection::TrainingSamplesConfig;
use burn_roi_detection::models::{BodyConfig, Detector, DetectorConfig};
use burn_roi_detection::train::{DetectorLossConfig, Trainer, TrainerConfig, TrainingBatch};
use burn_roi_detection::weights::StateDict;

use super::configs::config;
use super::parity::{Recording, detector, trainer_config};
use super::trainer::weights;
use crate::backends::{Backend, backends};

fn batch(index: usize, device: &Device) -> TrainingBatch {
    TrainingBatch::new(&Recording::read().samples(index), &config("faster"), device)
}

fn trainer(config: TrainerConfig) -> Trainer {
    Trainer::try_new(detector(&Recording::read(), "faster", &Device::flex()), config).unwrap()
}

/// Losses and weights after a step.
fn after(config: TrainerConfig, batches: &[TrainingBatch]) -> (Vec<(&'static str, f32)>, StateDict) {
    let mut trainer = trainer(config);
    (trainer.step_batches(batches).unwrap().losses, weights(&trainer))
}

/// Options by which all anchors and proposals are sampled, so that no random choice matters.
fn all_samples() -> TrainerConfig {
    let losses = trainer_config().losses;
    TrainerConfig {
        losses: DetectorLossConfig {
            anchors_per_image: 4000,
            samples: TrainingSamplesConfig {
                batch_size_per_image: 4000,
                ..losses.samples
            },
            ..losses
        },
        ..trainer_config()
    }
}

#[test]
fn a_step_takes_the_mean_gradient_of_its_batches() {
    let flex = Device::flex();
    let start = weights(&trainer(all_samples()));
    let alone = [0, 1].map(|index| after(all_samples(), &[batch(index, &flex)]));
    for Backend { name, device } in backends().into_iter().filter(Backend::is_host) {
        // Unoptimized, NdArray takes seconds for a step: only the first is repeated.
        for (devices, is_repeated) in [([&flex, &device], true), ([&device, &device], false)] {
            let batches: Vec<TrainingBatch> = (0..2).map(|index| batch(index, devices[index])).collect();
            let (losses, end) = after(all_samples(), &batches);
            if is_repeated {
                let again = after(all_samples(), &batches);
                assert!(again == (losses.clone(), end.clone()), "{name}");
            }
            for (place, (loss_name, loss)) in losses.into_iter().enumerate() {
                let mean = (alone[0].0[place].1 + alone[1].0[place].1) / 2.0;
                assert!(
                    (loss - mean).abs() <= 1e-5 * mean,
                    "{name}: {loss_name} is {loss}, not {mean}"
                );
            }
            // The first step of SGD is linear in the gradient.
            for (weight, end) in &end.tensors {
                let of = |state: &StateDict| state.tensors[weight].iter::<f64>().collect::<Vec<f64>>();
                let (start, first, second) = (of(&start), of(&alone[0].1), of(&alone[1].1));
                let mean: Vec<f64> = first
                    .iter()
                    .zip(second)
                    .map(|(first, second)| (first + second) / 2.0)
                    .collect();
                let largest = |left: &[f64], right: &[f64]| {
                    let differences = left.iter().zip(right).map(|(left, right)| (left - right).abs());
                    differences.fold(0.0, f64::max)
                };
                let difference = largest(&end.iter::<f64>().collect::<Vec<f64>>(), &mean);
                // A weight of 1 is rounded by up to 6e-8.
                let change = largest(&start, &mean);
                assert!(
                    difference <= 1e-3 * change + 1e-7,
                    "{name}: {weight} differs by {difference} of {change}"
                );
            }
        }
    }
}

#[test]
fn each_batch_draws_its_own_samples() {
    let batch = batch(0, &Device::flex());
    let (one, two) = (std::slice::from_ref(&batch), [batch.clone(), batch.clone()]);
    let (losses, _) = after(trainer_config(), one);
    assert_ne!(after(trainer_config(), &two).0, losses);
    let mut trainer = trainer(trainer_config());
    let step = trainer.step(&batch).unwrap();
    assert!((step.losses, weights(&trainer)) == after(trainer_config(), one));
}

/// A detector whose norms train.
pub fn with_norms() -> Detector {
    let mut config: DetectorConfig = config("faster");
    if let BodyConfig::ResNet(body) = &mut config.body {
        body.frozen_norms = false;
        body.batch_norm_epsilon = 1e-5;
    }
    let device = Device::flex();
    device.seed(3);
    Detector::new(config, &device)
}

#[test]
fn norms_keep_the_statistics_of_the_own_device() {
    let Some(other) = backends().into_iter().find(|backend| backend.name == "ndarray") else {
        return;
    };
    let detector = with_norms();
    let statistics = |devices: &[&Device]| {
        let mut trainer = Trainer::try_new(detector.clone(), trainer_config()).unwrap();
        let batches: Vec<_> = devices
            .iter()
            .enumerate()
            .map(|(index, device)| batch(index, device))
            .collect();
        trainer.step_batches(&batches).unwrap();
        let mut state = weights(&trainer);
        state.tensors.retain(|name, _| name.contains("running_"));
        state
    };
    let flex = Device::flex();
    let one = statistics(&[&flex]);
    assert!(one == statistics(&[&flex, &other.device]));
    assert!(one != statistics(&[&flex, &flex]));
}

#[test]
fn batches_that_fail() {
    let mut trainer = trainer(trainer_config());
    let start = weights(&trainer);
    let error = trainer.step_batches(&[]).unwrap_err().to_string();
    assert_eq!(error, "`batches` is empty, but must be not empty");
    let mut batches = [0, 1].map(|index| batch(index, &Device::flex()));
    batches[1].truth.pop();
    let error = trainer.step_batches(&batches).unwrap_err().to_string();
    let expected = "`truth` has length 1, but must have length 2: one for each image of `batch`";
    assert_eq!(error, format!("batch 1: {expected}"));
    assert_eq!(trainer.step(&batches[1]).unwrap_err().to_string(), expected);
    assert!(weights(&trainer) == start);
    assert_eq!(trainer.steps(), 0);
}

/// In `scripts/unfused --all`: a build with fusion has no remote devices.
#[test]
fn a_server_trains_as_the_own_device() {
    let Some(server) = backends().into_iter().find(|backend| backend.name == "remote") else {
        return;
    };
    let flex = Device::flex();
    let expected = after(all_samples(), &[batch(0, &flex), batch(1, &flex)]);
    let batches = [batch(0, &flex), batch(1, &server.device)];
    assert!(after(all_samples(), &batches) == expected);
}
