//! Runs imported detectors on their recorded pictures, and compares what they find with what ONNX Runtime found.
//!
//! ```text
//! python export.py --output DIR --models fasterrcnn_mobilenet_v3_large_320_fpn --opsets 16
//! ONNX_DETECTORS=DIR/fasterrcnn_mobilenet_v3_large_320_fpn_opset16.onnx cargo run --release -p onnx_detectors
//! ```

use std::error::Error;
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

/// Some detections: those of Burn, of ONNX Runtime or of torch.
struct Detections {
    boxes: Vec<f32>,
    labels: Vec<i64>,
    scores: Vec<f32>,
}

/// A detection of some others that is compared with one.
struct Nearest {
    row: usize,
    /// The largest difference of a coordinate, in pixels.
    distance: f32,
    score: f32,
}

impl Detections {
    /// The detections of a recording; `source` is `output` for ONNX Runtime's.
    fn recorded(recording: &SafeTensors, source: &str) -> Result<Self, Box<dyn Error>> {
        let tensor = |name: &str| recording.tensor(&format!("{source}.{name}"));
        Ok(Self {
            boxes: floats(&tensor("boxes")?),
            labels: integers(&tensor("labels")?),
            scores: floats(&tensor("scores")?),
        })
    }

    fn corners(&self, row: usize) -> &[f32] {
        &self.boxes[4 * row..4 * (row + 1)]
    }

    /// The nearest of these with the label of a detection.
    fn nearest(&self, others: &Self, row: usize) -> Option<Nearest> {
        let label = others.labels[row];
        let distance = |at: usize| {
            let pairs = self.corners(at).iter().zip(others.corners(row));
            pairs.map(|(one, other)| (one - other).abs()).fold(0.0, f32::max)
        };
        let same = (0..self.labels.len()).filter(|&at| self.labels[at] == label);
        let nearest = same.map(|at| (at, distance(at)));
        let (row, distance) = nearest.min_by(|left, right| left.1.total_cmp(&right.1))?;
        Some(Nearest {
            row,
            distance,
            score: self.scores[row],
        })
    }

    /// The row of a detection that is also one of these.
    fn same(&self, others: &Self, row: usize) -> Option<usize> {
        let nearest = self.nearest(others, row)?;
        let near = nearest.distance <= BOX_TOLERANCE && (nearest.score - others.scores[row]).abs() <= SCORE_TOLERANCE;
        near.then_some(nearest.row)
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
fn check(detector: &Detector) -> Result<bool, Box<dyn Error>> {
    let device = device();
    let bytes = std::fs::read(detector.recording)?;
    let recording = SafeTensors::deserialize(&bytes)?;
    let image = recording.tensor("input.image")?;
    let pixels = TensorData::new(floats(&image), image.shape().to_vec());
    let (outputs, time) = (detector.run)(Tensor::from_data(pixels, &device), &device);
    let output = |name: &str| {
        let at = detector.outputs.iter().position(|output| *output == name);
        at.map(|at| &outputs[at]).ok_or(format!("there is no output {name}"))
    };
    let found = Detections {
        boxes: output("boxes")?.iter::<f32>().collect(),
        labels: output("labels")?.iter::<i64>().collect(),
        scores: output("scores")?.iter::<f32>().collect(),
    };
    let expected = Detections::recorded(&recording, "output")?;
    let rows: Vec<_> = (0..expected.labels.len())
        .map(|row| found.same(&expected, row))
        .collect();
    let same = rows.iter().flatten().count();
    println!(
        "{}: {same} of {} detections of ONNX Runtime; {} found; {:.0} ms",
        detector.name,
        rows.len(),
        found.labels.len(),
        time.as_secs_f64() * 1e3
    );
    for name in ["masks", "keypoints", "keypoints_scores"] {
        if let (Ok(found), Ok(expected)) = (output(name), recording.tensor(&format!("output.{name}"))) {
            let found: Vec<f32> = found.iter::<f32>().collect();
            compare(name, &found, &floats(&expected), &rows);
        }
    }
    // Recordings made before torch's detections were added have none.
    let of_torch = Detections::recorded(&recording, "torch").ok();
    for row in (0..rows.len()).filter(|&row| rows[row].is_none()) {
        explain(&expected, row, &found, of_torch.as_ref());
    }
    Ok(same as f64 >= LEAST_SHARE * rows.len() as f64 && found.labels.len() == rows.len())
}

#[cfg(feature = "flex")]
fn device() -> Device {
    Device::flex()
}

#[cfg(not(feature = "flex"))]
fn device() -> Device {
    Device::default()
}

/// Prints how far a mask or the keypoints of the detections that both found are apart.
fn compare(name: &str, found: &[f32], expected: &[f32], rows: &[Option<usize>]) {
    let each = expected.len() / rows.len().max(1);
    let part = |all: &[f32], row: usize| all[each * row..each * (row + 1)].to_vec();
    let pairs = rows.iter().enumerate().filter_map(|(row, same)| Some((row, (*same)?)));
    let differences = pairs.flat_map(|(row, same)| {
        let (one, other) = (part(expected, row), part(found, same));
        one.into_iter().zip(other).map(|(one, other)| (one - other).abs())
    });
    let (mut total, mut apart, mut largest) = (0, 0, 0.0f32);
    for difference in differences {
        total += 1;
        apart += usize::from(difference.is_nan() || difference > BOX_TOLERANCE);
        largest = largest.max(difference);
    }
    println!("  {name}: {apart} of {total} numbers differ by more than {BOX_TOLERANCE}; at most by {largest}");
}

/// Prints what Burn and torch have in the place of a detection that was not found.
fn explain(expected: &Detections, row: usize, found: &Detections, of_torch: Option<&Detections>) {
    let place = |others: &Detections| match others.nearest(expected, row) {
        Some(Nearest { row, distance, score }) => {
            format!("no. {row}, {distance:.3} pixels away, with the score {score:.5}")
        }
        None => "none of this label".to_string(),
    };
    println!(
        "  not found: no. {row} of label {} with the score {:.5}; the last score is {:.5}",
        expected.labels[row],
        expected.scores[row],
        expected.scores.last().copied().unwrap_or_default()
    );
    println!("    nearest here: {}", place(found));
    if let Some(of_torch) = of_torch {
        println!("    nearest of torch: {}", place(of_torch));
    }
}

fn floats(tensor: &TensorView) -> Vec<f32> {
    let (numbers, _) = tensor.data().as_chunks();
    numbers.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

fn integers(tensor: &TensorView) -> Vec<i64> {
    let (numbers, _) = tensor.data().as_chunks();
    numbers.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect()
}
