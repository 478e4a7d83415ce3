//! Runs of training: interrupted, frozen, limited, and with faults.

use std::path::PathBuf;
use std::{env, fs, process};

use burn::tensor::{Bytes, Device};
use burn_roi_detection::train::{LearningRateSchedule, Sample, Trainer, TrainerConfig, TrainingBatch, TrainingError};
use burn_roi_detection::weights::{NameTable, StateDict};
use burn_store::burn_pack::{Reader, Scalar, Tensor, Writer};

use super::configs::config;
use super::parity::{Recording, detector, trainer_config};
use crate::bad_input::assert_error;

fn trainer(config: TrainerConfig) -> Trainer {
    trainer_of("mask", config)
}

pub fn trainer_of(kind: &str, config: TrainerConfig) -> Trainer {
    Trainer::try_new(detector(&Recording::of(kind), kind, &Device::flex()), config).unwrap()
}

fn batch(index: usize) -> TrainingBatch {
    batch_of("mask", index)
}

pub fn batch_of(kind: &str, index: usize) -> TrainingBatch {
    TrainingBatch::new(&Recording::of(kind).samples(index), &config(kind), &Device::flex())
}

pub fn weights(trainer: &Trainer) -> StateDict {
    StateDict::of(&trainer.detector().unwrap(), NameTable::torchvision).unwrap()
}

fn temporary(name: &str) -> PathBuf {
    env::temp_dir().join(format!("burn-roi-{}-{name}", process::id()))
}

#[test]
fn a_run_that_was_interrupted_ends_as_one_that_was_not() {
    for kind in ["mask", "cascade", "groups"] {
        let path = temporary(&format!("checkpoint-{kind}"));
        let batches = [batch_of(kind, 0), batch_of(kind, 1)];
        let mut whole = trainer_of(kind, trainer_config());
        for step in 0..4 {
            if step == 2 {
                whole.save(&path).unwrap();
            }
            whole.step(&batches[step % 2]).unwrap();
        }
        // Another trainer, whose weights were others.
        let mut resumed = trainer_of(kind, trainer_config());
        resumed.step(&batches[1]).unwrap();
        resumed.load(&path).unwrap();
        assert_eq!(resumed.steps(), 2);
        for step in 2..4 {
            resumed.step(&batches[step % 2]).unwrap();
        }
        fs::remove_file(&path).unwrap();
        assert!(weights(&resumed) == weights(&whole), "{kind}");
    }
}

#[test]
fn frozen_stages_stay_as_they_are() {
    let start = weights(&trainer(trainer_config()));
    for frozen in 0..=5 {
        let mut trainer = trainer(TrainerConfig {
            frozen_stages: frozen,
            ..trainer_config()
        });
        trainer.step(&batch(0)).unwrap();
        let end = weights(&trainer);
        let stages = ["conv1", "layer1", "layer2", "layer3", "layer4"];
        for (stage, name) in stages.iter().enumerate() {
            let prefix = format!("backbone.body.{name}.");
            let moved = end
                .tensors
                .iter()
                .any(|(name, data)| name.starts_with(&prefix) && *data != start.tensors[name]);
            assert_eq!(moved, stage >= frozen, "{name} with {frozen} frozen stages");
        }
        let norms = end.tensors.iter().filter(|(name, _)| name.contains(".bn"));
        assert!(norms.into_iter().all(|(name, data)| *data == start.tensors[name]));
        assert_ne!(
            end.tensors["rpn.head.cls_logits.weight"],
            start.tensors["rpn.head.cls_logits.weight"]
        );
    }
}

#[test]
fn frozen_blocks_of_a_vision_transformer_stay_as_they_are() {
    let options = |frozen_stages| TrainerConfig {
        frozen_stages,
        ..trainer_config()
    };
    let start = weights(&trainer_of("vit", options(0)));
    for frozen in 0..=4 {
        let mut trainer = trainer_of("vit", options(frozen));
        trainer.step(&batch_of("vit", 0)).unwrap();
        for (name, data) in weights(&trainer).tensors {
            let Some(name_in_body) = name.strip_prefix("backbone.body.") else {
                continue;
            };
            let stage = match name_in_body.strip_prefix("blocks.") {
                Some(block) => 1 + block[..1].parse::<usize>().unwrap(),
                None => 0,
            };
            let has_moved = data != start.tensors[&name];
            assert_eq!(has_moved, stage >= frozen, "{name} with {frozen} frozen stages");
        }
    }
}

#[test]
fn the_norm_of_all_gradients_is_limited() {
    let start = weights(&trainer(trainer_config()));
    let change = |limit: Option<f64>| {
        let options = TrainerConfig {
            weight_decay: 0.0,
            max_gradient_norm: limit,
            ..trainer_config()
        };
        let mut trainer = trainer(options);
        let norm = trainer.step(&batch(0)).unwrap().gradient_norm;
        let squares = weights(&trainer).tensors.into_iter().map(|(name, data)| {
            let pairs = data.iter::<f64>().zip(start.tensors[&name].iter::<f64>());
            pairs.map(|(end, start)| (end - start) * (end - start)).sum::<f64>()
        });
        // A step is the learning rate times the gradient.
        (squares.sum::<f64>().sqrt() / 0.005, norm)
    };
    let (whole, norm) = change(Some(1e9));
    assert!((norm.unwrap() - whole).abs() < 1e-2 * whole, "{norm:?} {whole}");
    assert!((change(None).0 - whole).abs() < 1e-6 * whole);
    assert_eq!(change(None).1, None);
    let (limited, norm) = change(Some(whole / 4.0));
    assert!((limited - whole / 4.0).abs() < 1e-2 * whole, "{limited} {whole}");
    assert!(norm.unwrap() > limited);
}

#[test]
fn pictures_without_objects_are_learned_from() {
    let empty: Vec<Sample> = Recording::read()
        .samples(0)
        .into_iter()
        .map(|sample| Sample::new(sample.size, sample.pixels, Vec::new()))
        .collect();
    for kind in ["faster", "mask", "keypoint", "cascade", "groups"] {
        let batch = TrainingBatch::new(&empty, &config(kind), &Device::flex());
        let step = trainer_of(kind, trainer_config()).step(&batch).unwrap();
        for (name, loss) in step.losses {
            let learns = name.starts_with("loss_cls_") || ["loss_objectness", "loss_classifier"].contains(&name);
            assert_eq!(loss > 0.0, learns, "{name} of {kind} is {loss}");
        }
    }
}

#[test]
fn a_loss_that_is_not_finite_stops_the_run() {
    let mut trainer = trainer(TrainerConfig {
        losses: trainer_config().losses,
        ..TrainerConfig::new(LearningRateSchedule::new(1e18))
    });
    let error = (0..4).find_map(|_| trainer.step(&batch(0)).err()).expect("an error");
    assert!(
        matches!(error, TrainingError::NotFinite { .. } | TrainingError::Detection(_)),
        "{error}"
    );
}

#[test]
fn checkpoints_that_are_damaged() {
    let path = temporary("damaged");
    let mut trainer = trainer(trainer_config());
    let before = weights(&trainer);
    trainer.save(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    for length in [0, 10, 30, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&path, &bytes[..length]).unwrap();
        let error = trainer.load(&path).expect_err("a part of a file").to_string();
        assert!(
            error.starts_with(&format!("the checkpoint {}: ", path.display())),
            "{error}"
        );
    }
    fs::remove_file(&path).unwrap();
    assert!(matches!(trainer.load(&path), Err(TrainingError::File { .. })));
    assert!(weights(&trainer) == before);
}

/// A checkpoint of these parts.
fn checkpoint(step: u64, model: &[u8], optimizer: &[u8]) -> Vec<u8> {
    let numbers = [step, model.len() as u64, optimizer.len() as u64].map(u64::to_le_bytes);
    [b"burn-roi checkpoint 1   ", numbers.as_flattened(), model, optimizer].concat()
}

#[test]
fn a_momentum_that_is_not_the_model_s() {
    let path = temporary("momentum");
    let mut trainer = trainer(trainer_config());
    trainer.save(&path).unwrap();
    let new = fs::read(&path).unwrap();
    trainer.step(&batch(0)).unwrap();
    trainer.save(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let parts = |bytes: &[u8]| {
        let length = u64::from_le_bytes(bytes[32..40].try_into().unwrap()) as usize;
        let (model, optimizer) = bytes[48..].split_at(length);
        (model.to_vec(), optimizer.to_vec())
    };
    let (model, optimizer) = parts(&bytes);
    assert!(checkpoint(1, &model, &optimizer) == bytes);
    // Each tensor turned around, with the bytes that it had, and with another rank.
    let read = || Reader::from_bytes(Bytes::from_bytes_vec(optimizer.clone())).unwrap();
    let tensors = read().into_tensors().unwrap().into_iter();
    let turned = tensors.map(|tensor| {
        let (name, dtype, shape, id, bytes) = tensor.into_parts().unwrap();
        let shape: Vec<usize> = shape.to_vec().into_iter().rev().collect();
        Tensor::new(name, dtype, shape, id, bytes)
    });
    let turned = Writer::new(turned.collect()).into_bytes().unwrap();
    let (name, _) = read()
        .scalars()
        .first_key_value()
        .map(|(name, rank)| (name.clone(), *rank))
        .unwrap();
    let ranked = Writer::new(read().into_tensors().unwrap()).with_scalar(&name, Scalar::UInt(7));
    let ranked = ranked.into_bytes().unwrap();
    let before = weights(&trainer);
    for (file, reason) in [
        (checkpoint(1, &model, &model), "is of no parameter of the model"),
        (
            checkpoint(1, &model, &parts(&new).1),
            "the optimizer has no momentum, but steps were taken",
        ),
        (checkpoint(1, &model, &turned), "but must be F32 ["),
        (checkpoint(1, &model, &ranked), "is no rank of a parameter of the model"),
        (checkpoint(u64::MAX, &model, &optimizer), "it is damaged"),
    ] {
        fs::write(&path, file).unwrap();
        let error = trainer.load(&path).expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
    }
    fs::remove_file(&path).unwrap();
    assert!(weights(&trainer) == before && trainer.steps() == 1);
}

/// A folder is in the place of the file, so that it can't be renamed. Else it would fill a disk that is full.
#[test]
fn a_checkpoint_that_is_not_written_leaves_no_part() {
    let folder = temporary("folder");
    fs::create_dir_all(folder.join("checkpoint/full")).unwrap();
    assert!(matches!(
        trainer(trainer_config()).save(folder.join("checkpoint")),
        Err(TrainingError::File { .. })
    ));
    let left = fs::read_dir(&folder).unwrap().count();
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(left, 1);
}

#[test]
fn options_out_of_range() {
    let call = |config| {
        let detector = detector(&Recording::read(), "faster", &Device::flex());
        Trainer::try_new(detector, config)
            .map(drop)
            .map_err(|error| match error {
                TrainingError::Detection(error) => error,
                error => panic!("{error}"),
            })
    };
    let config = || TrainerConfig::new(LearningRateSchedule::new(0.1));
    assert_error(
        call(TrainerConfig::new(LearningRateSchedule::new(f64::NAN))),
        "`peak` is NaN, but must be finite, and 0 or above",
    );
    assert_error(
        call(TrainerConfig {
            momentum: 1.5,
            ..config()
        }),
        "`momentum` is 1.5, but must be from 0 to 1",
    );
    assert_error(
        call(TrainerConfig {
            weight_decay: -1.0,
            ..config()
        }),
        "`weight_decay` is -1, but must be finite, and 0 or above",
    );
    assert_error(
        call(TrainerConfig {
            max_gradient_norm: Some(0.0),
            ..config()
        }),
        "`max_gradient_norm` is 0, but must be above 0",
    );
}
