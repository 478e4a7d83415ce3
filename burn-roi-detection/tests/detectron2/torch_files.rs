//! Files that torch, yacs and PyYAML wrote, by `generate_torch.py`.

use std::fs;
use std::path::{Path, PathBuf};

use burn::tensor::{TensorData, f16};
use burn_roi_detection::models::{BodyConfig, DetectorConfig};
use burn_roi_detection::weights::StateDict;
use burn_roi_detection::weights::detectron2::{Checkpoint, read_config};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/detectron2/torch")
        .join(name)
}

fn counted() -> TensorData {
    TensorData::new(vec![-5.0_f32, -4.0, -3.0, -2.0, -1.0, 0.0], [2, 3])
}

#[test]
fn a_checkpoint_of_a_training() {
    let checkpoint = Checkpoint::read(file("model_final.pth")).unwrap();
    let halves = [-5.0, -4.0, -3.0, -2.0, -1.0, 0.0].map(f16::from_f32);
    let expected = [
        ("half", TensorData::new(halves.to_vec(), [2, 3])),
        ("proposal_generator.rpn_head.conv.weight", counted()),
        (
            "transposed",
            TensorData::new(vec![-5.0_f32, -2.0, -4.0, -1.0, -3.0, 0.0], [3, 2]),
        ),
    ];
    // The counter of a norm and the mean of pictures are no weights of a model.
    assert_eq!(checkpoint.tensors.len(), expected.len() + 2);
    let state = checkpoint.into_state_dict();
    let names: Vec<&str> = state.tensors.keys().map(String::as_str).collect();
    assert_eq!(names, expected.each_ref().map(|(name, _)| *name));
    for (name, data) in &expected {
        assert_eq!(&state.tensors[*name], data, "{name}");
    }
}

/// The first entry of this archive has 76 bytes in its directory, as many as torch writes after the directory: a reader
/// that looks for the directory from its end would skip the entry.
#[test]
fn an_archive_whose_name_has_21_characters() {
    let path = file("maskrcnn_resnet50_fpn.pth");
    let state = StateDict::read(&path).unwrap();
    assert_eq!(state.tensors["weight"], counted());
    assert_eq!(state.tensors.len(), 1);
    // The same reader, by the entry point of checkpoints, which finds no `model` in it.
    let error = Checkpoint::read(&path).unwrap_err().to_string();
    assert!(error.contains("model"), "{error}");
}

/// Besides the weights it has an optimizer with tensors, and an object of Python.
#[test]
fn a_checkpoint_of_torchvisions_training() {
    let state = StateDict::read(file("training.pth")).unwrap();
    assert_eq!(state.tensors["weight"], counted());
    assert_eq!(state.tensors.len(), 1);
}

fn check_config(config: &DetectorConfig) {
    let BodyConfig::ResNet(body) = &config.body else {
        panic!("{:?}", config.body);
    };
    assert_eq!(body.output_channels, Some([16, 32, 64, 128]));
    assert_eq!(config.classes, ["person", "background"]);
    assert_eq!(config.box_head.fully_connected, [1024, 1024]);
    let head = config.keypoint_head.as_ref().unwrap();
    assert_eq!(head.convolutions, [8, 16]);
    assert_eq!(head.keypoints[0], "nose");
    assert!(config.mask_head.is_none());
}

/// `cfg.dump()` writes lists, and no tags.
#[test]
fn a_dumped_config() {
    check_config(&read_config(file("config.yaml")).unwrap());
}

/// `yaml.dump(cfg)` writes objects and tuples of Python.
#[test]
fn a_pickled_config() {
    let text = fs::read_to_string(file("pickled.yaml")).unwrap();
    assert!(text.contains("!!python/object/new:") && text.contains("!!python/tuple"));
    check_config(&read_config(file("pickled.yaml")).unwrap());
}
