//! Checkpoints that Python wrote, by `generate.py`.

use std::path::{Path, PathBuf};

use burn::tensor::{TensorData, bf16, f16};
use burn_roi_detection::weights::detectron2::{Checkpoint, CheckpointError};

fn pickles() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/detectron2/pickles")
}

/// Elements that count from -5, in the order of the last index moving fastest.
fn counted(count: i64) -> impl Iterator<Item = i64> {
    -5..count - 5
}

fn floats(shape: &[usize]) -> TensorData {
    let count = shape.iter().product::<usize>() as i64;
    TensorData::new(counted(count).map(|element| element as f32).collect(), shape.to_vec())
}

#[test]
fn each_protocol_of_each_numpy_has_the_same_weights() {
    let halves: Vec<f16> = counted(6).map(|element| f16::from_f32(element as f32)).collect();
    let doubles: Vec<f64> = counted(6).map(|element| element as f64).collect();
    let ints: Vec<i32> = counted(6).map(|element| element as i32).collect();
    let expected = [
        ("backbone.bottom_up.stem.conv1.weight", floats(&[4, 3, 3, 2])),
        ("double", TensorData::new(doubles, [2, 3])),
        ("empty", floats(&[0, 3])),
        ("fortran", floats(&[2, 3])),
        ("half", TensorData::new(halves.clone(), [2, 3])),
        ("int", TensorData::new(ints, [2, 3])),
        ("long", TensorData::new(counted(6).collect::<Vec<_>>(), [2, 3])),
        ("no_dimensions", TensorData::new(vec![-5_i64], [0; 0])),
        ("permuted", floats(&[2, 3, 4])),
        ("scalar", TensorData::new(vec![-5.0_f32], [0; 0])),
        ("shared", TensorData::new(halves, [2, 3])),
        ("strided", floats(&[2, 3, 4])),
    ];
    for numpy in [1, 2] {
        for protocol in 2..=5 {
            let path = pickles().join(format!("numpy_{numpy}_protocol_{protocol}.pkl"));
            let checkpoint = Checkpoint::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(checkpoint.author.as_deref(), Some("Detectron2 Model Zoo"));
            assert!(!checkpoint.matching_heuristics);
            let names: Vec<&String> = checkpoint.tensors.keys().collect();
            assert_eq!(names, expected.each_ref().map(|(name, _)| name), "{}", path.display());
            for (name, data) in &expected {
                assert_eq!(&checkpoint.tensors[*name], data, "{name} of {}", path.display());
            }
        }
    }
}

#[test]
fn brain_floats() {
    let checkpoint = Checkpoint::read(pickles().join("bfloat16.pkl")).unwrap();
    let expected: Vec<bf16> = counted(6).map(|element| bf16::from_f32(element as f32)).collect();
    assert_eq!(checkpoint.tensors["bfloat16"], TensorData::new(expected, [2, 3]));
    assert_eq!(checkpoint.author, None);
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let error = Checkpoint::read(pickles().join("none.pkl")).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("none.pkl: ") && text.contains("(os error 2)"), "{text}");
    let CheckpointError::Read { source, .. } = error else {
        panic!("{error}");
    };
    assert!(matches!(*source, CheckpointError::File { .. }), "{source}");
}
