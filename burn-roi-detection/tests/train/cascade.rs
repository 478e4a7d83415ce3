//! The training of a cascade: each stage learns from the boxes of the stage before.

use burn::tensor::{Device, TensorData};
use burn_roi_detection::DetectionError;
use burn_roi_detection::models::{Background, Detector};
use burn_roi_detection::train::{Trainer, TrainerConfig, TrainingError, TrainingStep};
use burn_roi_detection::weights::{NameTable, StateDict};

use super::configs::config;
use super::parity::{Recording, trainer_config};
use super::trainer::{batch_of, trainer_of, weights};
use crate::bad_input::assert_error;

/// Without weight decay, so that a weight without a gradient stays as it is.
fn options() -> TrainerConfig {
    TrainerConfig {
        weight_decay: 0.0,
        ..trainer_config()
    }
}

fn loss(step: &TrainingStep, name: &str) -> f32 {
    let found = step.losses.iter().find(|(other, _)| *other == name);
    found.unwrap_or_else(|| panic!("there is no {name}")).1
}

/// Whether a weight that begins with this name is another one than at the start.
fn has_moved(trainer: &Trainer, name: &str) -> bool {
    let start = Recording::of("cascade").weights("cascade");
    let end = weights(trainer).tensors.into_iter();
    let mut named = end.filter(|(other, _)| other.starts_with(name)).peekable();
    assert!(named.peek().is_some(), "there is no {name}");
    named.any(|(name, data)| data != start.tensors[&name])
}

#[test]
fn names_of_losses() {
    let step = trainer_of("cascade", options()).step(&batch_of("cascade", 0)).unwrap();
    let names: Vec<&str> = step.losses.iter().map(|(name, _)| *name).collect();
    let expected = [
        "loss_objectness",
        "loss_rpn_box_reg",
        "loss_cls_stage0",
        "loss_box_reg_stage0",
        "loss_cls_stage1",
        "loss_box_reg_stage1",
        "loss_cls_stage2",
        "loss_box_reg_stage2",
        "loss_mask",
    ];
    assert_eq!(names, expected);
}

/// One of the pictures of the second batch has no objects.
#[test]
fn two_runs_have_the_same_bits() {
    let run = || {
        let mut trainer = trainer_of("cascade", options());
        let steps: Vec<_> = (0..3)
            .map(|step| trainer.step(&batch_of("cascade", step % 2)).unwrap())
            .collect();
        (steps, weights(&trainer))
    };
    assert!(run() == run());
}

/// No IoU is 1.5.
#[test]
fn a_stage_without_foreground_learns_its_classes_alone() {
    let mut options = options();
    options.losses.later_iou_thresholds = vec![1.5, 0.0];
    let mut trainer = trainer_of("cascade", options);
    let step = trainer.step(&batch_of("cascade", 0)).unwrap();
    assert_eq!(loss(&step, "loss_box_reg_stage1"), 0.0);
    for name in ["loss_cls_stage1", "loss_cls_stage2", "loss_box_reg_stage2"] {
        assert!(loss(&step, name) > 0.0, "{name}");
    }
    let moved = |stage: &str, layer: &str| has_moved(&trainer, &format!("roi_heads.later_stages.{stage}.{layer}"));
    assert!(!moved("0", "box_predictor.bbox_pred."));
    assert!(moved("0", "box_predictor.cls_score.") && moved("0", "box_head."));
    assert!(moved("1", "box_predictor.bbox_pred."));
}

/// A detector without a mask head, whose weights are changed.
fn boxes_alone(background: Background, change: impl Fn(&str, &mut Vec<f32>)) -> Detector {
    let mut config = config("cascade");
    config.background = background;
    config.mask_head = None;
    let mut state = Recording::of("cascade").weights("cascade");
    state.tensors.retain(|name, _| !name.starts_with("roi_heads.mask"));
    for (name, data) in &mut state.tensors {
        let mut values = data.iter::<f32>().collect();
        change(name, &mut values);
        *data = TensorData::new(values, data.shape().to_vec());
    }
    let mut detector = Detector::new(config, &Device::flex());
    state.load_into(&mut detector, NameTable::torchvision).unwrap();
    detector
}

/// The first stage moves all boxes out of their pictures.
#[test]
fn a_stage_without_boxes_learns_nothing() {
    for background in [Background::First, Background::Last] {
        let detector = boxes_alone(background, |name, values| {
            if name == "roi_heads.box_predictor.bbox_pred.bias" {
                values[0] = 1e5;
            }
        });
        let start = StateDict::of(&detector, NameTable::torchvision).unwrap();
        let mut trainer = Trainer::try_new(detector, options()).unwrap();
        let step = trainer.step(&batch_of("cascade", 1)).unwrap();
        for (name, loss) in step.losses {
            let is_later = name.contains("stage1") || name.contains("stage2");
            assert_eq!(loss == 0.0, is_later, "{name} is {loss}");
        }
        for (name, data) in weights(&trainer).tensors {
            let is_same = data == start.tensors[&name];
            assert!(!name.contains("later_stages") || is_same, "{name} has changed");
        }
        assert!(has_moved(&trainer, "roi_heads.box_head."));
    }
}

#[test]
fn the_background_may_be_the_first_class() {
    let last = boxes_alone(Background::Last, |_, _| ());
    let first = boxes_alone(Background::First, |name, values| {
        if name.contains("cls_score") {
            let row = values.len() / 3;
            values.rotate_right(row);
        }
    });
    let [last, first] = [last, first].map(|detector| {
        let mut trainer = Trainer::try_new(detector, options()).unwrap();
        trainer.step(&batch_of("cascade", 0)).unwrap().losses
    });
    assert_eq!(last.len(), 8);
    for ((name, last), (_, first)) in last.into_iter().zip(first) {
        let difference = (last - first).abs();
        assert!(difference <= 1e-6 * last, "{name} is {last} and {first}");
    }
}

#[test]
fn options_out_of_range() {
    let call = |kind, change: fn(&mut TrainerConfig)| {
        let mut options = options();
        change(&mut options);
        match trainer_of(kind, options).step(&batch_of(kind, 0)) {
            Err(TrainingError::Detection(error)) => Err::<(), DetectionError>(error),
            other => panic!("{other:?}"),
        }
    };
    assert_error(
        call("cascade", |options| options.losses.later_iou_thresholds = vec![0.6]),
        "`later_iou_thresholds` has length 1, but must have length 2: one for each element of `box_head.later_stages`",
    );
    assert_error(
        call("cascade", |options| {
            options.losses.later_iou_thresholds[1] = f64::NAN;
        }),
        "`later_iou_thresholds` is NaN, but must be finite",
    );
    for (kind, change) in [
        (
            "cascade",
            (|options| options.losses.smooth_l1_beta = -1.0) as fn(&mut TrainerConfig),
        ),
        ("mask", |options| options.losses.smooth_l1_beta = f64::INFINITY),
    ] {
        let value = if kind == "mask" { "inf" } else { "-1" };
        assert_error(
            call(kind, change),
            &format!("`smooth_l1_beta` is {value}, but must be finite, and 0 or above"),
        );
    }
}
