//! Finds shapes in a picture with a Mask R-CNN that PyTorch exported as ONNX, and draws them.
//!
//! ```text
//! cargo run --release -p onnx_detector          # writes target/onnx_detector.png
//! ```
//!
//! `build.rs` turns `shapes.onnx` into the Rust code of a model. `export.py` made the ONNX file, of the weights
//! of shapes of the example `find_objects`, and so both draw the same picture.

mod compare;

/// The generated code.
#[allow(clippy::all, unused)]
mod model {
    include!(concat!(env!("OUT_DIR"), "/model/shapes.rs"));
}

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use burn::tensor::{Device, Tensor, TensorData};
use burn_roi_detection::RunLengths;
use clap::Parser;
use find_objects::{BackendName, Error, Found, config, drawing, pictures};
use image::RgbImage;

const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../find_objects/shapes.png");
/// The names of the classes.
const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../find_objects/shapes.json");
/// The weights, which the build script took out of the ONNX file.
const WEIGHTS: &str = concat!(env!("OUT_DIR"), "/model/shapes.bpk");
/// The score from which a detection is drawn, and the probability from which a pixel belongs to a mask.
const THRESHOLD: f32 = 0.5;

/// Finds shapes in a picture with an imported ONNX model, and draws them.
#[derive(Debug, Parser)]
struct Arguments {
    /// The backend that runs the model
    #[arg(long, value_enum, default_value_t = BackendName::Flex)]
    backend: BackendName,

    /// A picture file: JPEG, PNG, WebP, BMP, GIF or TIFF
    #[arg(long, value_name = "FILE", default_value = PICTURE)]
    image: PathBuf,

    /// The PNG file to write
    #[arg(long, value_name = "FILE", default_value = "target/onnx_detector.png")]
    output: PathBuf,

    /// Compare the detections in three recorded pictures with those of ONNX Runtime, and fail if they differ
    #[arg(long)]
    compare: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Error> {
    let device = arguments.backend.device()?;
    let model = model::Model::from_file(WEIGHTS, &device);
    if arguments.compare {
        return compare::compare(&model, &device);
    }
    let picture = pictures::read(&arguments.image)?;
    let found = detect(&model, &picture, &device);
    let config = config::read(Path::new(CONFIG))?;
    for found in &found {
        let [x1, y1, x2, y2] = found.corners;
        let (label, score) = (config.label(found.class), found.score);
        println!("{label:<16} {score:.3}  {x1:>7.1},{y1:>7.1} to {x2:>7.1},{y2:>7.1}");
    }
    pictures::write(&drawing::draw(&picture, &found, &config), &arguments.output)?;
    println!("wrote {}", arguments.output.display());
    Ok(())
}

/// What the model finds in a picture, with scores of at least the threshold.
fn detect(model: &model::Model, picture: &RgbImage, device: &Device) -> Vec<Found> {
    let size = [picture.height() as usize, picture.width() as usize];
    let (boxes, labels, scores, masks) = model.forward(pixels(picture, device));
    let boxes: Vec<f32> = boxes.into_data().iter::<f32>().collect();
    let labels: Vec<i64> = labels.into_data().iter::<i64>().collect();
    let scores: Vec<f32> = scores.into_data().iter::<f32>().collect();
    let masks: Vec<f32> = masks.into_data().iter::<f32>().collect();
    let (corners, _) = boxes.as_chunks::<4>();
    let found = corners
        .iter()
        .zip(labels)
        .zip(scores)
        .zip(masks.chunks(size[0] * size[1]));
    let found = found.map(|(((&corners, label), score), mask)| Found {
        class: label as usize,
        score,
        corners,
        mask: RunLengths::from_pixels(&mask.iter().map(|&pixel| pixel > THRESHOLD).collect::<Vec<_>>(), size),
    });
    found.filter(|found| found.score >= THRESHOLD).collect()
}

/// The pixels of a picture as the model takes them: `[3, H, W]`, from 0 to 1.
fn pixels(picture: &RgbImage, device: &Device) -> Tensor<3> {
    let (width, height) = picture.dimensions();
    let values: Vec<f32> = picture.as_raw().iter().map(|&value| f32::from(value) / 255.0).collect();
    let rows = TensorData::new(values, [height as usize, width as usize, 3]);
    Tensor::<3>::from_data(rows, device).permute([2, 0, 1])
}
