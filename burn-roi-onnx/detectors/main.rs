//! Runs imported detectors on their recorded pictures, and compares what they find with what ONNX Runtime found.
//!
//! ```text
//! python export.py --output DIR --models fasterrcnn_mobilenet_v3_large_320_fpn --opsets 16
//! ONNX_DETECTORS=DIR/fasterrcnn_mobilenet_v3_large_320_fpn_opset16.onnx cargo run --release -p onnx_detectors
//! ```

use std::process::ExitCode;
use std::time::Duration;

use burn::tensor::{Device, Tensor, TensorData};
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;

include!(concat!(env!("OUT_DIR"), "/detectors.rs"));

/// How far a box may be from the recorded one, in pixels of the picture.
const BOX_TOLERANCE: f32 = 0.05;
/// How far a score may be from the recorded one.
const SCORE_TOLERANCE: f32 = 1e-3;
/// How many of the recorded detections must be found. The rest are ties, which rounding decides.
const LEAST_SHARE: f64 = 0.99;

/// An imported detector.
struct Detector {
    name: &'static str,
    recording: &'static str,
    outputs: &'static [&'static str],
    run: fn(Tensor<3>, &Device) -> (Vec<TensorData>, Duration),
}

/// What a detector found.
struct Found {
    boxes: Vec<f32>,
    labels: Vec<i64>,
    scores: Vec<f32>,
}

impl Found {
    /// Whether a detection is also one of these.
    fn has(&self, corners: &[f32], label: i64, score: f32) -> bool {
        self.boxes
            .chunks(4)
            .zip(&self.labels)
            .zip(&self.scores)
            .any(|((other, &other_label), other_score)| {
                let near = other
                    .iter()
                    .zip(corners)
                    .all(|(other, corner)| (other - corner).abs() <= BOX_TOLERANCE);
                near && label == other_label && (score - other_score).abs() <= SCORE_TOLERANCE
            })
    }
}

fn main() -> ExitCode {
    if DETECTORS.is_empty() {
        println!("no detector: name ONNX files in the environment variable ONNX_DETECTORS when this is built");
    }
    let mut all = true;
    for detector in DETECTORS {
        match check(detector) {
            Ok(found) => all &= found,
            Err(reason) => {
                eprintln!("{}: {reason}", detector.name);
                all = false;
            }
        }
    }
    if all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether a detector finds what ONNX Runtime found.
fn check(detector: &Detector) -> Result<bool, Box<dyn std::error::Error>> {
    let device = Device::default();
    let bytes = std::fs::read(detector.recording)?;
    let recording = SafeTensors::deserialize(&bytes)?;
    let image = recording.tensor("input.image")?;
    let pixels = TensorData::new(floats(&image), image.shape().to_vec());
    let (outputs, time) = (detector.run)(Tensor::from_data(pixels, &device), &device);
    let output = |name: &str| {
        let at = detector.outputs.iter().position(|output| *output == name);
        at.map(|at| &outputs[at]).ok_or(format!("there is no output {name}"))
    };
    let found = Found {
        boxes: output("boxes")?.iter::<f32>().collect(),
        labels: output("labels")?.iter::<i64>().collect(),
        scores: output("scores")?.iter::<f32>().collect(),
    };
    let boxes = floats(&recording.tensor("output.boxes")?);
    let scores = floats(&recording.tensor("output.scores")?);
    let labels = recording.tensor("output.labels")?;
    let labels: Vec<i64> = labels
        .data()
        .as_chunks()
        .0
        .iter()
        .map(|&bytes| i64::from_le_bytes(bytes))
        .collect();
    let rows = boxes.chunks(4).zip(&labels).zip(&scores);
    let same = rows
        .filter(|((corners, label), score)| found.has(corners, **label, **score))
        .count();
    println!(
        "{}: {same} of {} detections of ONNX Runtime; {} found; {:.0} ms",
        detector.name,
        labels.len(),
        found.labels.len(),
        time.as_secs_f64() * 1e3
    );
    Ok(same as f64 >= LEAST_SHARE * labels.len() as f64 && found.labels.len() == labels.len())
}

fn floats(tensor: &TensorView) -> Vec<f32> {
    tensor
        .data()
        .as_chunks()
        .0
        .iter()
        .map(|&bytes| f32::from_le_bytes(bytes))
        .collect()
}
