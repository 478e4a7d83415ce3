//! Files that fit, and files that do not.

use std::path::PathBuf;
use std::{env, fs, process};

use burn::tensor::{DType, Device, TensorData};
use burn_roi_detection::models::{Detector, DetectorConfig};
use burn_roi_detection::weights::{Mismatch, NameTable, StateDict, WeightsError};

use super::narrow::narrow;

const FIRST: &str = "maskrcnn_resnet50_fpn";
const SECOND: &str = "maskrcnn_resnet50_fpn_v2";

fn detector(name: &str) -> Detector {
    Detector::new(narrow(name), &Device::flex())
}

fn state(detector: &Detector) -> StateDict {
    StateDict::of(detector, NameTable::torchvision).unwrap()
}

fn load(state: StateDict, name: &str) -> Result<Detector, WeightsError> {
    let mut detector = detector(name);
    state.load_into(&mut detector, NameTable::torchvision)?;
    Ok(detector)
}

fn file(name: &str) -> PathBuf {
    env::temp_dir().join(format!("burn-roi-detection-{}-{name}", process::id()))
}

fn mismatch(result: Result<Detector, WeightsError>) -> Mismatch {
    match result.map(|_| "loaded") {
        Err(WeightsError::Mismatch { mismatch, .. }) => *mismatch,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_written_is_read_for_every_model() {
    for name in DetectorConfig::NAMES {
        let path = file(&format!("{name}.safetensors"));
        let written = state(&detector(name));
        written.write(&path).unwrap();
        let read = StateDict::read(&path).unwrap();
        assert_eq!(
            fs::read_dir(env::temp_dir()).unwrap().filter(is_part_of(&path)).count(),
            0
        );
        fs::remove_file(path).unwrap();
        assert_eq!(state(&load(read, name).unwrap()), written, "{name}");
    }
}

/// Whether an entry is a file that was written in place of this one and not renamed.
fn is_part_of(path: &std::path::Path) -> impl Fn(&std::io::Result<fs::DirEntry>) -> bool {
    let name = path.file_name().unwrap().to_string_lossy().into_owned() + ".";
    move |entry| {
        let entry = entry.as_ref().unwrap().file_name();
        entry.to_string_lossy().starts_with(&name)
    }
}

#[test]
fn halves_are_loaded_in_single_precision() {
    let mut halves = state(&detector(SECOND));
    for data in halves.tensors.values_mut() {
        *data = data.clone().convert_dtype(DType::F16);
    }
    let loaded = state(&load(halves.clone(), SECOND).unwrap());
    for (name, data) in halves.tensors {
        assert_eq!(loaded.tensors[&name], data.convert_dtype(DType::F32), "{name}");
    }
}

#[test]
fn old_names_are_read_and_today_s_are_written() {
    let today = state(&detector(FIRST));
    let mut old = today.clone();
    let names: Vec<String> = old.tensors.keys().cloned().collect();
    for name in names {
        let older = match name.as_str() {
            "rpn.head.conv.0.0.weight" => "rpn.head.conv.weight".to_string(),
            "rpn.head.conv.0.0.bias" => "rpn.head.conv.bias".to_string(),
            name if name.contains("_blocks.") => {
                name.replacen(".0.weight", ".weight", 1).replacen(".0.bias", ".bias", 1)
            }
            name if name.contains("mask_head.2.0.") => name.replace("2.0.", "mask_fcn3."),
            _ => continue,
        };
        let data = old.tensors.remove(&name).unwrap();
        old.tensors.insert(older, data);
    }
    assert!(old.tensors.contains_key("backbone.fpn.inner_blocks.0.weight"));
    assert_eq!(state(&load(old, FIRST).unwrap()), today);
}

#[test]
fn all_differences_are_named_and_the_model_stays() {
    let mut wrong = state(&detector(FIRST));
    wrong.tensors.remove("backbone.body.layer2.0.downsample.1.weight");
    let scores = TensorData::new(vec![0.0_f32; 2 * 8], [2, 8]);
    wrong
        .tensors
        .insert("roi_heads.box_predictor.cls_score.weight".to_string(), scores.clone());
    wrong.tensors.insert("backbone.body.fc.weight".to_string(), scores);
    let mut model = detector(FIRST);
    let before = state(&model);
    let error = wrong.load_into(&mut model, NameTable::torchvision).unwrap_err();
    assert_eq!(state(&model), before);
    assert_eq!(
        error.to_string(),
        "the weights do not fit the model maskrcnn_resnet50_fpn:\
         \n  1 tensor missing from the file:\n    backbone.body.layer2.0.downsample.1.weight\
         \n  1 tensor unknown to the model:\n    backbone.body.fc.weight\
         \n  1 tensor of another shape:\n    roi_heads.box_predictor.cls_score.weight: \
         [2, 8] in the file, [3, 8] in the model"
    );
}

/// Headers of safetensors that say what is not so, before 8 bytes of data.
#[test]
fn hostile_headers_are_refused() {
    let file = |length: u64, header: &str| [&length.to_le_bytes(), header.as_bytes(), &[0; 8]].concat();
    let tensor = |shape: &str, start: u64, end: u64| {
        format!(r#"{{"dtype": "F32", "shape": {shape}, "data_offsets": [{start}, {end}]}}"#)
    };
    let of = |tensors: &[String]| {
        let entries: Vec<String> = tensors
            .iter()
            .enumerate()
            .map(|(name, tensor)| format!("\"{name}\": {tensor}"))
            .collect();
        format!("{{{}}}", entries.join(","))
    };
    let header = of(&[tensor("[2]", 0, 8)]);
    assert!(StateDict::from_safetensors(file(header.len() as u64, &header)).is_ok());
    for length in [u64::MAX, 1 << 40, 90_000_000, 0] {
        assert!(
            StateDict::from_safetensors(file(length, &header)).is_err(),
            "a header of {length} bytes"
        );
    }
    for header in [
        of(&[tensor("[4611686018427387904, 4]", 0, 8)]),
        of(&[tensor("[4611686018427387904]", 0, 0)]),
        of(&[tensor("[1000000000]", 0, 4_000_000_000)]),
        of(&[tensor("[2]", 0, 8), tensor("[2]", 0, 8)]),
        of(&[tensor("[2]", 8, 0)]),
        of(&[tensor("[2]", 0, u64::MAX)]),
        "[".repeat(100_000),
        "{}".to_string(),
    ] {
        let read = StateDict::from_safetensors(file(header.len() as u64, &header));
        assert!(matches!(read, Err(WeightsError::Bytes { .. })), "{:.80}", header);
    }
}

#[test]
fn weights_that_are_not_finite_are_named() {
    for value in [f32::NAN, f32::NEG_INFINITY] {
        let mut wrong = state(&detector(FIRST));
        let name = "rpn.head.cls_logits.bias";
        let length = wrong.tensors[name].num_elements();
        let mut values = vec![0.0; length];
        values[length - 1] = value;
        wrong
            .tensors
            .insert(name.to_string(), TensorData::new(values, [length]));
        let mut model = detector(FIRST);
        let before = state(&model);
        let error = wrong.load_into(&mut model, NameTable::torchvision).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the weights {name} are not finite: a value is NaN or infinite")
        );
        assert_eq!(state(&model), before);
    }
}

#[test]
fn training_counters_are_left_out() {
    let path = file("counters.safetensors");
    let mut counted = state(&detector(SECOND));
    let counter = TensorData::from([0_i64]);
    counted
        .tensors
        .insert("backbone.body.bn1.num_batches_tracked".to_string(), counter);
    counted.write(&path).unwrap();
    let read = StateDict::read(&path).unwrap();
    fs::remove_file(path).unwrap();
    load(read, SECOND).unwrap();
}

#[test]
fn a_tensor_under_its_old_and_new_name_is_one_too_many() {
    let mut twice = state(&detector(FIRST));
    let weight = twice.tensors["rpn.head.conv.0.0.weight"].clone();
    twice.tensors.insert("rpn.head.conv.weight".to_string(), weight);
    assert_eq!(mismatch(load(twice, FIRST)).unexpected, ["rpn.head.conv.weight"]);
}

#[test]
fn a_checkpoint_of_another_architecture_is_refused() {
    let mismatch = mismatch(load(state(&detector(SECOND)), FIRST));
    assert!(mismatch.missing.contains(&"roi_heads.box_head.fc6.weight".to_string()));
    assert!(mismatch.unexpected.contains(&"roi_heads.box_head.5.weight".to_string()));
    assert!(mismatch.to_string().lines().count() < 80);
}

#[test]
fn files_that_are_no_weights_are_refused() {
    let path = file("whole.safetensors");
    state(&detector(FIRST)).write(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    // Only the beginning of a zip archive, which is torch's format.
    let archive = b"PK\x03\x04\0\0\0\0\0\0";
    let cases: [(&str, &[u8]); 6] = [
        ("truncated.safetensors", &whole[..whole.len() / 2]),
        ("empty.safetensors", b""),
        ("text.safetensors", b"these are no weights at all"),
        ("empty.pth", b""),
        ("truncated.pth", archive),
        ("weights.bin", &whole),
    ];
    for (name, bytes) in cases {
        let path = file(name);
        fs::write(&path, bytes).unwrap();
        let error = StateDict::read(&path).unwrap_err();
        fs::remove_file(&path).unwrap();
        assert!(matches!(error, WeightsError::Read { .. }), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
    let error = StateDict::from_safetensors(whole[..20].to_vec()).unwrap_err();
    assert!(matches!(error, WeightsError::Bytes { .. }), "{error}");
    let error = StateDict::read(file("missing.pth")).unwrap_err().to_string();
    assert!(
        error.contains("missing.pth: ") && error.contains("(os error 2)"),
        "{error}"
    );
    let error = StateDict::default().write("/no/such/folder/a.safetensors").unwrap_err();
    assert!(matches!(error, WeightsError::Write { .. }), "{error}");
}
