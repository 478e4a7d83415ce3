//! Layers of f16 and bf16 beside weights of f32.

use burn::tensor::{DType, Device};
use burn_roi_detection::DetectionError;
use burn_roi_detection::train::{HalfPrecision, Trainer, TrainerConfig, TrainingBatch, TrainingError, TrainingStep};
use serde_json::json;

use super::configs::config;
use super::devices::with_norms;
use super::parity::{Recording, detector, trainer_config};
use super::trainer::weights;
use crate::backends::{Backend, backends};
use crate::bad_input::assert_error;

const F16: HalfPrecision = HalfPrecision::F16 { loss_scale: 1024.0 };

fn options(half_precision: Option<HalfPrecision>) -> TrainerConfig {
    TrainerConfig {
        half_precision,
        ..trainer_config()
    }
}

fn trainer(kind: &str, device: &Device, half_precision: Option<HalfPrecision>) -> Result<Trainer, TrainingError> {
    Trainer::try_new(detector(&Recording::of(kind), kind, device), options(half_precision))
}

fn batch(kind: &str, device: &Device) -> TrainingBatch {
    TrainingBatch::new(&Recording::of(kind).samples(0), &config(kind), device)
}

#[test]
fn losses_are_near_and_become_lower() {
    let hosts = backends().into_iter().filter(Backend::is_host);
    for Backend { name, device } in hosts.filter(|backend| backend.supports(DType::F16)) {
        for kind in ["faster", "mask", "keypoint", "cascade", "groups", "vit"] {
            let batch = batch(kind, &device);
            let exact = trainer(kind, &device, None).unwrap().step(&batch).unwrap();
            for (half, tolerance) in [(HalfPrecision::BF16, 0.02), (F16, 0.002)] {
                let mut trainer = trainer(kind, &device, Some(half)).unwrap();
                let steps: Vec<_> = (0..4).map(|_| trainer.step(&batch).unwrap()).collect();
                let totals: Vec<f32> = steps.iter().map(TrainingStep::total).collect();
                // The heads may get other proposals, but the anchors of the first two losses are the same.
                for ((loss_name, loss), (_, exact)) in steps[0].losses.iter().zip(&exact.losses).take(2) {
                    let difference = (loss - exact).abs();
                    assert!(
                        difference <= tolerance * exact,
                        "{name}, {half:?}: {loss_name} of {kind} is {loss}, not {exact}"
                    );
                }
                // The box losses of the cascade are large, and each box of theirs is a share of them.
                let share = if kind == "cascade" { 0.2 } else { 0.1 };
                let difference = (totals[0] - exact.total()).abs();
                assert!(
                    difference <= share * exact.total(),
                    "{name}, {half:?}: {kind} {totals:?}, not {exact:?}"
                );
                assert_ne!(steps[0].losses, exact.losses);
                assert!(totals[3] < totals[0]);
                assert!(
                    weights(&trainer)
                        .tensors
                        .values()
                        .all(|weight| weight.dtype() == DType::F32)
                );
            }
        }
    }
}

#[test]
fn the_loss_scale_does_not_change_a_step() {
    let batch = batch("faster", &Device::flex());
    let after = |loss_scale| {
        let half = HalfPrecision::F16 { loss_scale };
        let mut trainer = trainer("faster", &Device::flex(), Some(half)).unwrap();
        trainer.step(&batch).unwrap().gradient_norm.unwrap()
    };
    let (large, small) = (after(2048.0), after(1024.0));
    assert!((large - small).abs() <= 1e-3 * small, "{large} {small}");
}

#[test]
fn norms_that_train_stay_in_f32() {
    let mut trainer = Trainer::try_new(with_norms(), options(Some(F16))).unwrap();
    let start = weights(&trainer);
    trainer.step(&batch("faster", &Device::flex())).unwrap();
    let end = weights(&trainer);
    assert!(end.tensors.values().all(|weight| weight.dtype() == DType::F32));
    let name = "backbone.body.layer4.0.bn1.running_mean";
    assert_ne!(end.tensors[name], start.tensors[name]);
}

#[test]
fn gradients_that_overflow() {
    let half = HalfPrecision::F16 { loss_scale: 1e30 };
    let mut trainer = trainer("faster", &Device::flex(), Some(half)).unwrap();
    let start = weights(&trainer);
    let error = trainer.step(&batch("faster", &Device::flex())).unwrap_err();
    let is_norm = matches!(
        error,
        TrainingError::NotFinite {
            name: "gradient_norm",
            step: 0,
            ..
        }
    );
    assert!(is_norm, "{error}");
    assert!(weights(&trainer) == start);
    assert_eq!(trainer.steps(), 0);
}

#[test]
fn what_is_refused() {
    let refused = |device: &Device, half| match trainer("faster", device, Some(half)) {
        Err(TrainingError::Detection(error)) => Err::<(), DetectionError>(error),
        Err(error) => panic!("{error}"),
        Ok(_) => Ok(()),
    };
    for loss_scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_error(
            refused(&Device::flex(), HalfPrecision::F16 { loss_scale }),
            &format!("`loss_scale` is {loss_scale}, but must be finite, and above 0"),
        );
    }
    for Backend { device, .. } in backends().into_iter().filter(|backend| backend.name == "ndarray") {
        let expected = "but must be of a dtype that NdArray(Cpu) supports";
        assert_error(
            refused(&device, HalfPrecision::BF16),
            &format!("`half_precision` is of dtype BF16, {expected}"),
        );
        // As a device of one of the batches, before the first batch is computed.
        let mut trainer = trainer("faster", &Device::flex(), Some(F16)).unwrap();
        let mut batches = [batch("faster", &Device::flex()), batch("faster", &device)];
        batches[0].truth.pop();
        let error = trainer.step_batches(&batches).unwrap_err().to_string();
        assert_eq!(error, format!("`half_precision` is of dtype F16, {expected}"));
    }
}

#[test]
fn options_as_json() {
    let config = options(Some(F16));
    let mut json = serde_json::to_value(&config).unwrap();
    assert_eq!(json["half_precision"], json!({"F16": {"loss_scale": 1024.0}}));
    assert_eq!(serde_json::from_value::<TrainerConfig>(json.clone()).unwrap(), config);
    json["half_precision"] = json!("BF16");
    let read: TrainerConfig = serde_json::from_value(json).unwrap();
    assert_eq!(read.half_precision, Some(HalfPrecision::BF16));
}
