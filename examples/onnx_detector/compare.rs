//! Compares the model with recorded runs of ONNX Runtime (`export.py`).

use std::path::{Path, PathBuf};

use burn::tensor::{Device, Tensor, TensorData};
use find_objects::Error;
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;

use crate::model::Model;

const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/shapes.safetensors");
const PICTURES: [&str; 3] = ["shapes", "parity", "nothing"];

/// An error if the detections in a picture are not ONNX Runtime's.
pub fn compare(model: &Model, device: &Device) -> Result<(), Error> {
    let unreadable = |reason: String| Error::ReadRecording {
        path: PathBuf::from(RECORDING),
        reason,
    };
    let bytes = std::fs::read(Path::new(RECORDING)).map_err(|error| unreadable(error.to_string()))?;
    let recording = SafeTensors::deserialize(&bytes).map_err(|error| unreadable(error.to_string()))?;
    for picture in PICTURES {
        let tensor = |name: &str| recording.tensor(&format!("{picture}.{name}"));
        let needed = |name: &str| tensor(name).map_err(|error| unreadable(error.to_string()));
        let (boxes, labels, scores, masks) = model.forward(pixels(&needed("picture")?, device));
        let expected_labels: Vec<i64> = numbers(&needed("labels")?, i64::from_le_bytes);
        let found_labels: Vec<i64> = labels.into_data().iter::<i64>().collect();
        if found_labels != expected_labels {
            return Err(Error::Differs(format!(
                "{picture}: the labels {found_labels:?}, which are {expected_labels:?} in ONNX Runtime"
            )));
        }
        // In pixels; in probabilities; and in probabilities of a pixel next to another one.
        let checks = [
            ("boxes", boxes.into_data(), 1e-2),
            ("scores", scores.into_data(), 1e-4),
            ("masks", masks.into_data(), 1e-2),
        ];
        for (name, found, tolerance) in checks {
            // The masks of one picture would be a large file.
            let Ok(expected) = tensor(name) else {
                continue;
            };
            check(
                &format!("{picture}.{name}"),
                &found,
                &numbers(&expected, f32::from_le_bytes),
                tolerance,
            )?;
        }
        println!("{picture}: {} detections, those of ONNX Runtime", found_labels.len());
    }
    Ok(())
}

fn check(name: &str, found: &TensorData, expected: &[f32], tolerance: f32) -> Result<(), Error> {
    let found: Vec<f32> = found.iter::<f32>().collect();
    if found.len() != expected.len() {
        return Err(Error::Differs(format!(
            "{name}: {} numbers, and not {}",
            found.len(),
            expected.len()
        )));
    }
    let pairs = found.iter().zip(expected);
    let difference = pairs
        .map(|(found, expected)| (found - expected).abs())
        .fold(0.0, f32::max);
    if difference <= tolerance {
        println!("{name}: at most {difference:.1e} apart");
        return Ok(());
    }
    Err(Error::Differs(format!(
        "{name}: by {difference:e}, more than {tolerance:e}"
    )))
}

/// The pixels `[H, W, 3]` of a recorded picture as the model takes them.
fn pixels(picture: &TensorView, device: &Device) -> Tensor<3> {
    let values: Vec<f32> = picture.data().iter().map(|&value| f32::from(value) / 255.0).collect();
    let rows = TensorData::new(values, picture.shape().to_vec());
    Tensor::<3>::from_data(rows, device).permute([2, 0, 1])
}

fn numbers<T, const SIZE: usize>(tensor: &TensorView, of_bytes: fn([u8; SIZE]) -> T) -> Vec<T> {
    let (chunks, _) = tensor.data().as_chunks::<SIZE>();
    chunks.iter().map(|&bytes| of_bytes(bytes)).collect()
}
