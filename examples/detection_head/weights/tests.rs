//! Files that fit, and files that do not.

use std::path::PathBuf;
use std::{env, process};

use burn::tensor::{DType, Device, TensorData};

use super::*;
use crate::tests::tiny;

/// A state dict as torchvision would save it.
type StateDict = BTreeMap<String, TensorData>;

fn state_dict(config: &Config, device: &Device) -> StateDict {
    super::state_dict(&MaskRcnn::new(config, device), config).unwrap()
}

fn bytes(state: &StateDict) -> Vec<u8> {
    let views = state.iter().map(|(name, data)| {
        let dtype = match data.dtype() {
            DType::F16 => Dtype::F16,
            _ => Dtype::F32,
        };
        let shape = data.shape().to_vec();
        (name, TensorView::new(dtype, shape, data.as_bytes()).unwrap())
    });
    safetensors::serialize(views, None).unwrap()
}

/// Writes the bytes to a file of that name, and loads it.
fn load_bytes(name: &str, bytes: &[u8], config: &Config) -> Result<MaskRcnn, Error> {
    let path = file(name);
    fs::write(&path, bytes).unwrap();
    let mut model = MaskRcnn::new(config, &Device::flex());
    let result = load(&mut model, config, &path);
    fs::remove_file(path).unwrap();
    result.map(|()| model)
}

fn file(name: &str) -> PathBuf {
    env::temp_dir().join(format!("burn-roi-{}-{name}", process::id()))
}

fn mismatch(result: Result<MaskRcnn, Error>) -> Mismatch {
    match result.map(|_| "loaded") {
        Err(Error::OtherModel { mismatch, .. }) => *mismatch,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_saved_is_loaded_in_single_precision() {
    for second in [false, true] {
        let config = tiny(second);
        let mut state = state_dict(&config, &Device::flex());
        for data in state.values_mut() {
            *data = data.clone().convert_dtype(DType::F16);
        }
        let model = load_bytes("half.safetensors", &bytes(&state), &config).unwrap();
        for tensor in model.collect(None, Some(Box::new(BurnToPyTorchAdapter)), true) {
            assert_eq!(tensor.dtype, DType::F32, "of {}", tensor.name);
            let name = names::of_checkpoint(&tensor.name, &config);
            let expected = state[&name].clone().convert_dtype(DType::F32);
            assert_eq!(bridge::into_data(tensor).unwrap(), expected, "of {name}");
        }
    }
}

#[test]
fn a_model_that_is_written_is_read() {
    for second in [false, true] {
        let config = tiny(second);
        let path = file("written.safetensors");
        let model = MaskRcnn::new(&config, &Device::flex());
        save(&model, &config, &path).unwrap();
        let mut other = MaskRcnn::new(&config, &Device::flex());
        load(&mut other, &config, &path).unwrap();
        fs::remove_file(path).unwrap();
        let [written, read] = [model, other].map(|model| super::state_dict(&model, &config).unwrap());
        assert_eq!(written, read);
    }
}

#[test]
fn training_counters_are_left_out_and_nothing_else_is() {
    let config = tiny(true);
    let mut state = state_dict(&config, &Device::flex());
    let counter = TensorData::from([0.0_f32]);
    state.insert("backbone.body.bn1.num_batches_tracked".to_string(), counter.clone());
    load_bytes("counters.safetensors", &bytes(&state), &config).unwrap();
    state.insert("backbone.body.fc.weight".to_string(), counter);
    let mismatch = mismatch(load_bytes("more.safetensors", &bytes(&state), &config));
    assert_eq!(mismatch.unused, ["backbone.body.fc.weight"]);
    assert!(mismatch.missing.is_empty() && mismatch.shapes.is_empty());
}

#[test]
fn missing_and_misshapen_tensors_are_named_as_torchvision_does() {
    let config = tiny(false);
    let mut state = state_dict(&config, &Device::flex());
    state.remove("backbone.body.layer2.0.downsample.1.weight");
    let scores = TensorData::new(vec![0.0_f32; 2 * 8], [2, 8]);
    state.insert("roi_heads.box_predictor.cls_score.weight".to_string(), scores);
    let mismatch = mismatch(load_bytes("wrong.safetensors", &bytes(&state), &config));
    assert_eq!(mismatch.missing, ["backbone.body.layer2.0.downsample.1.weight"]);
    assert!(mismatch.unused.is_empty());
    assert_eq!(
        mismatch.to_string(),
        "\n  1 tensor missing from the file:\n    backbone.body.layer2.0.downsample.1.weight\
         \n  1 tensor of another shape:\n    roi_heads.box_predictor.cls_score.weight: \
         [2, 8] in the file, [3, 8] in the model"
    );
}

#[test]
fn a_tensor_under_its_old_and_new_name_is_one_too_many() {
    let config = tiny(false);
    let mut state = state_dict(&config, &Device::flex());
    let weight = state["rpn.head.conv.0.0.weight"].clone();
    state.insert("rpn.head.conv.weight".to_string(), weight);
    let mismatch = mismatch(load_bytes("twice.safetensors", &bytes(&state), &config));
    assert_eq!(mismatch.unused.len(), 1);
    assert!(mismatch.unused[0].starts_with("rpn.head.conv"));
}

#[test]
fn a_checkpoint_of_another_architecture_is_refused() {
    let state = state_dict(&tiny(true), &Device::flex());
    let mismatch = mismatch(load_bytes("second.safetensors", &bytes(&state), &tiny(false)));
    assert!(mismatch.missing.contains(&"roi_heads.box_head.fc6.weight".to_string()));
    assert!(mismatch.unused.contains(&"roi_heads.box_head.5.weight".to_string()));
    assert!(mismatch.to_string().lines().count() < 60);
}

#[test]
fn files_that_are_no_weights_are_refused() {
    let config = tiny(false);
    let whole = bytes(&state_dict(&config, &Device::flex()));
    let truncated = &whole[..whole.len() / 2];
    // Only the beginning of a zip archive, which is torch's format.
    let archive = b"PK\x03\x04\0\0\0\0\0\0";
    let cases: [(&str, &[u8]); 6] = [
        ("truncated.safetensors", truncated),
        ("empty.safetensors", b""),
        ("text.safetensors", b"these are no weights at all"),
        ("empty.pth", b""),
        ("truncated.pth", archive),
        ("weights.bin", &whole),
    ];
    for (name, bytes) in cases {
        let error = load_bytes(name, bytes, &config).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::ReadWeights { .. }), "{text}");
        assert!(text.contains(name), "{text}");
    }
    let mut model = MaskRcnn::new(&config, &Device::flex());
    let error = load(&mut model, &config, &file("missing.pth")).unwrap_err().to_string();
    assert!(error.contains("missing.pth: No such file"), "{error}");
}
