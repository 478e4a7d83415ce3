//! Tensors whose data is in other files.

use std::fs;
use std::path::PathBuf;

use burn_roi_onnx::{Error, prepare};
use onnx_ir::{Message, ModelProto, TensorProto};

use super::build::{model, node, value};

/// A temporary folder.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("burn-roi-onnx-{}-{name}", std::process::id()));
        fs::create_dir_all(path.join("model")).unwrap();
        Self(path)
    }

    fn model(&self) -> PathBuf {
        self.0.join("model")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A model that adds a tensor of four floats with external data.
fn adding(entries: &[(&str, &str)]) -> ModelProto {
    let add = node("Add", &["x", "weights"], &["y"]);
    let mut model = model(16, vec![add], vec![value("x", &[4])], vec![value("y", &[4])]);
    let mut weights = TensorProto {
        name: "weights".to_string(),
        dims: vec![4],
        data_type: 1,
        ..TensorProto::default()
    };
    for (key, value) in entries {
        weights.external_data.push(Default::default());
        let entry = weights.external_data.last_mut().unwrap();
        entry.key = key.to_string();
        entry.value = value.to_string();
    }
    model.graph.mut_or_insert_default().initializer = vec![weights];
    model
}

fn prepared(folder: &Folder, entries: &[(&str, &str)]) -> Result<ModelProto, Error> {
    let bytes = prepare(&adding(entries).write_to_bytes().unwrap(), Some(&folder.model()))?;
    Ok(ModelProto::parse_from_bytes(&bytes).unwrap())
}

fn refusal(folder: &Folder, entries: &[(&str, &str)]) -> String {
    prepared(folder, entries).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn data_is_read_into_the_model() {
    let folder = Folder::new("read");
    let floats: Vec<u8> = [9.0f32, 1.0, 2.0, 3.0, 4.0]
        .iter()
        .flat_map(|float| float.to_le_bytes())
        .collect();
    fs::write(folder.model().join("weights.bin"), floats).unwrap();
    let entries = [("location", "weights.bin"), ("offset", "4"), ("length", "16")];
    let model = prepared(&folder, &entries).unwrap();
    let weights = &model.graph.initializer[0];
    assert!(weights.external_data.is_empty());
    let values: Vec<f32> = weights
        .raw_data
        .chunks(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
}

/// Opening a pipe would wait for who writes into it.
#[cfg(unix)]
#[test]
fn a_pipe_is_refused() {
    let folder = Folder::new("pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(folder.model().join("pipe"))
        .status();
    assert!(made.unwrap().success());
    let error = refusal(&folder, &[("location", "pipe")]);
    assert!(
        error.contains("it is 16 bytes from byte 0 on, of a file of 0 bytes"),
        "{error}"
    );
}

#[test]
fn data_outside_of_the_folder_is_refused() {
    let folder = Folder::new("outside");
    fs::write(folder.0.join("secret"), [0; 16]).unwrap();
    let absolute = folder.0.join("secret");
    for location in [
        "../secret",
        "./../secret",
        "a/../../secret",
        absolute.to_str().unwrap(),
        "",
    ] {
        let error = refusal(&folder, &[("location", location)]);
        assert!(
            error.contains("`weights`") && error.contains("in the folder of the model"),
            "{error}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_refused() {
    let folder = Folder::new("link");
    fs::write(folder.0.join("secret"), [0; 16]).unwrap();
    std::os::unix::fs::symlink(folder.0.join("secret"), folder.model().join("link")).unwrap();
    let error = refusal(&folder, &[("location", "link")]);
    assert!(error.contains("a link out of the folder"), "{error}");
}

#[test]
fn a_range_that_the_file_does_not_have_is_refused() {
    let folder = Folder::new("range");
    fs::write(folder.model().join("weights.bin"), [0; 16]).unwrap();
    let name = ("location", "weights.bin");
    for (entries, expected) in [
        (vec![name, ("offset", "1")], "of a file of 16 bytes"),
        (vec![name, ("offset", "18446744073709551615")], "of a file of 16 bytes"),
        (
            vec![name, ("length", "15")],
            "15 bytes; the tensor's sizes and type need 16",
        ),
        (vec![name, ("offset", "-1")], "its offset is \"-1\""),
        (vec![name, ("length", "many")], "its length is \"many\""),
        (vec![("location", "nothing.bin")], "cannot find"),
    ] {
        let error = refusal(&folder, &entries);
        assert!(error.contains("`weights`") && error.contains(expected), "{error}");
    }
}

#[test]
fn a_model_in_memory_has_no_folder() {
    let bytes = adding(&[("location", "weights.bin")]).write_to_bytes().unwrap();
    let error = prepare(&bytes, None).unwrap_err().to_string();
    assert!(error.contains("there is no folder of it"), "{error}");
}
