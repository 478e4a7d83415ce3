//! Runs imported detectors on their recorded images, and compares their detections with ONNX Runtime's.
//!
//! ```text
//! python export.py --output DIR --models fasterrcnn_mobilenet_v3_large_320_fpn --opsets 16
//! ONNX_DETECTORS=DIR/fasterrcnn_mobilenet_v3_large_320_fpn_opset16.onnx cargo run --release -p onnx_detectors
//! ```
//!
//! A number after `--` runs each detector as many times more, and prints the median time of each stage.

mod detections;
#[allow(dead_code, reason = "only the code of imported detectors calls it")]
mod stages;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use burn::tensor::{Device, Tensor, TensorData};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use detections::{BOX_TOLERANCE, Detections, Nearest, floats};
use stages::Run;

include!(concat!(env!("OUT_DIR"), "/detectors.rs"));

/// The share of recorded detections that must be found. The others are ties, which rounding decides.
const LEAST_SHARE: f64 = 0.99;

/// An imported detector.
struct Detector {
    name: &'static str,
    recordings: &'static [&'static str],
    outputs: &'static [&'static str],
    run: fn(Tensor<3>, &Device, usize) -> Vec<Run>,
}

fn main() -> ExitCode {
    let more = match std::env::args().nth(1).map(|text| text.parse()) {
        None => 0,
        Some(Ok(more)) => more,
        Some(Err(error)) => {
            eprintln!("the number of runs: {error}");
            return ExitCode::FAILURE;
        }
    };
    if DETECTORS.is_empty() {
        println!("no detector: name ONNX files in the environment variable ONNX_DETECTORS when this is built");
    }
    let mut all = true;
    for detector in DETECTORS {
        for recording in detector.recordings {
            match check(detector, recording, more) {
                Ok(found) => all &= found,
                Err(reason) => {
                    eprintln!("{}: {recording}: {reason}", detector.name);
                    all = false;
                }
            }
        }
    }
    if all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether a detector finds what ONNX Runtime found.
fn check(detector: &Detector, recording: &str, more: usize) -> Result<bool, Box<dyn Error>> {
    let device = device();
    let bytes = std::fs::read(recording)?;
    let recording = SafeTensors::deserialize(&bytes)?;
    // The shipped detector's recording has several images.
    let shipped = recording.tensor("shapes.picture").is_ok();
    let (image, expected) = if shipped {
        ("shapes.picture", "shapes")
    } else {
        ("input.image", "output")
    };
    let image = picture(&recording.tensor(image)?, &device);
    let [_, height, width] = image.dims();
    let runs = (detector.run)(image, &device, 1 + more);
    let outputs = &runs[0].outputs;
    let output = |name: &str| {
        let at = detector.outputs.iter().position(|output| *output == name);
        at.map(|at| &outputs[at]).ok_or(format!("there is no output {name}"))
    };
    let found = Detections {
        boxes: output("boxes")?.iter::<f32>().collect(),
        labels: output("labels")?.iter::<i64>().collect(),
        scores: output("scores")?.iter::<f32>().collect(),
    };
    let expected = Detections::recorded(&recording, expected)?;
    let rows: Vec<_> = (0..expected.labels.len())
        .map(|row| found.same(&expected, row))
        .collect();
    let same = rows.iter().flatten().count();
    println!(
        "{}, {width} x {height}: {same} of {} detections of ONNX Runtime; {} found",
        detector.name,
        rows.len(),
        found.labels.len(),
    );
    // The first run is slower, and counts only if there is no other.
    print_times(&runs[more.min(1)..]);
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

/// A recorded image as `[3, H, W]`, from 0 to 1. The shipped detector's recording has `[H, W, 3]` in bytes.
fn picture(recorded: &TensorView, device: &Device) -> Tensor<3> {
    let shape = recorded.shape().to_vec();
    if recorded.dtype() != Dtype::U8 {
        return Tensor::from_data(TensorData::new(floats(recorded), shape), device);
    }
    let values: Vec<f32> = recorded.data().iter().map(|&value| f32::from(value) / 255.0).collect();
    Tensor::<3>::from_data(TensorData::new(values, shape), device).permute([2, 0, 1])
}

/// Prints the median time of all runs, and of each of their stages.
fn print_times(runs: &[Run]) {
    let stages = || runs[0].stages.iter().enumerate();
    let of_stage = |at: usize| runs.iter().map(|run| run.stages[at].1).collect();
    println!("  {:24}{:9.1} ms", "all", median(runs.iter().map(Run::time).collect()));
    // GPUs run asynchronously, so a stage's work can be measured in a later one.
    if cfg!(feature = "flex") {
        for (at, (name, _)) in stages() {
            println!("    {name:22}{:9.1} ms", median(of_stage(at)));
        }
    }
}

/// In milliseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

#[cfg(feature = "flex")]
fn device() -> Device {
    Device::flex()
}

#[cfg(not(feature = "flex"))]
fn device() -> Device {
    Device::default()
}

/// Prints the differences of masks or keypoints of the detections that both found.
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

/// Prints the nearest detections of Burn and torch to one that was not found.
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
