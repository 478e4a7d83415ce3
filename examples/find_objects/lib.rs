//! Detects objects in pictures with the detectors and weights of torchvision or detectron2, and draws their boxes,
//! labels, scores and masks.
//!
//! ```text
//! cargo run --release -p find_objects
//! cargo run --release -p find_objects --features ndarray -- --backend ndarray
//! cargo run --release -p find_objects -- --image photograph.jpg \
//!     --config maskrcnn_resnet50_fpn --weights maskrcnn_resnet50_fpn_coco-bf2d0c1e.pth
//! cargo run --release -p find_objects -- --image photograph.jpg \
//!     --config COCO-InstanceSegmentation/mask_rcnn_R_50_FPN_3x --weights model_final_f10217.pkl
//! cargo run --release -p find_objects --features wgpu,fusion -- --backend wgpu
//! cargo run --release -p find_objects --features remote -- --server ws://127.0.0.1:3000 --image folder
//! ```
//!
//! The models and their weights are those of `burn_roi_detection`.
//!
//! - `drawing.rs` draws what was found, and `report.rs` prints it.
//! - `servers/` runs the heads or the whole detector on servers of `serve_device`, and spreads pictures over them.
//! - `compare/` compares every layer with a recording of torchvision's.
//!
//! Two small models are shipped. Without arguments, this command finds coins in one half of a photograph: `finetune`
//! trained that model on the other half. `train/` trained the other model with torchvision, on drawn shapes.

mod arguments;
#[path = "../support/backend_name.rs"]
mod backend_name;
mod backends;
mod compare;
pub mod drawing;
mod error;
mod found;
#[path = "../support/picture_files.rs"]
mod picture_files;
pub mod pictures;
mod report;
#[cfg(feature = "remote")]
#[path = "../support/server_device.rs"]
mod server_device;
#[cfg(feature = "remote")]
mod servers;
mod stages;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Instant;

use burn::tensor::Device;
use burn_roi_detection::models::{Detector, DetectorConfig};
use burn_roi_detection::weights;
use image::RgbImage;

pub use arguments::{Arguments, COINS_CONFIG, CONFIG, WEIGHTS, weights_for};
pub use backend_name::BackendName;
pub use burn_roi_detection::pictures::Canvas;
use compare::Recording;
pub use error::Error;
pub use found::{Found, detect, detect_async};
pub use report::{Report, milliseconds, short};
pub use stages::{Stages, progress_bar};

/// The files of models.
pub mod config {
    pub use burn_roi_detection::weights::{config_from_json as from_json, read_config as read};
}

/// Does what the command line asks for.
pub fn run(arguments: &Arguments) -> Result<(), Error> {
    let report = Report { json: arguments.json };
    let files = pictures::find(&arguments.image)?;
    if let Some(path) = &arguments.compare {
        return compare_with(path, &files, arguments, &report);
    }
    if !arguments.server.is_empty() {
        return on_servers(&files, arguments, &report);
    }
    let device = arguments.backend.device()?;
    let detector = load(arguments, config::read(&arguments.config)?, &device, &report)?;
    for (number, file) in (1..).zip(&files) {
        let output = pictures::numbered(&arguments.output, number, files.len());
        detect_in_file(&detector, file, &output, arguments, &report)?;
    }
    Ok(())
}

#[cfg(feature = "remote")]
use servers::run as on_servers;

#[cfg(not(feature = "remote"))]
fn on_servers(_files: &[PathBuf], _arguments: &Arguments, _report: &Report) -> Result<(), Error> {
    Err(Error::NoServersCompiledIn)
}

/// The model of a configuration, with its weights loaded.
fn load(arguments: &Arguments, config: DetectorConfig, device: &Device, report: &Report) -> Result<Detector, Error> {
    let path = arguments.weights()?;
    let start = Instant::now();
    let mut detector = Detector::try_new(config, device)?;
    weights::load(&path, &mut detector)?;
    report.line(&format!(
        "{}: {}, weights of {} in {}",
        arguments.backend,
        detector.config().name,
        short(&path).display(),
        milliseconds(start.elapsed())
    ));
    Ok(detector)
}

/// Detects the objects in a picture, and draws them.
fn detect_in_file(
    detector: &Detector,
    file: &Path,
    output: &Path,
    arguments: &Arguments,
    report: &Report,
) -> Result<(), Error> {
    let picture = pictures::read(file)?;
    let mut stages = Stages::new(detector);
    let found = detect(detector, &picture, &mut stages)?;
    let times = stages.finish();

    present(&picture, file, output, &found, arguments, detector.config(), report)?;
    report.times(&times);
    Ok(())
}

/// Draws what was found in a picture, and prints it.
fn present(
    picture: &RgbImage,
    file: &Path,
    output: &Path,
    found: &[Found],
    arguments: &Arguments,
    config: &DetectorConfig,
    report: &Report,
) -> Result<(), Error> {
    let drawn: Vec<Found> = found
        .iter()
        .filter(|found| found.score >= arguments.score_threshold)
        .cloned()
        .collect();
    let (width, height) = picture.dimensions();
    report.line(&format!(
        "\n{}, {width} x {height}: {} found, {} of them with a score of {} or more",
        short(file).display(),
        found.len(),
        drawn.len(),
        arguments.score_threshold
    ));
    report.found(&drawn, config);
    pictures::write(&drawing::draw(picture, &drawn, config), output)?;
    report.line(&format!("  wrote {}", short(output).display()));
    if arguments.json {
        println!("{}", report::to_json(file, [width, height], found, config));
    }
    Ok(())
}

/// Compares the layers for the one picture with a recording.
fn compare_with(path: &Path, files: &[PathBuf], arguments: &Arguments, report: &Report) -> Result<(), Error> {
    let [file] = files else {
        return Err(Error::SeveralPictures(files.len()));
    };
    let device = arguments.backend.device()?;
    let recording = Recording::read(path)?;
    let config = recording.config(config::read(&arguments.config)?);
    let detector = load(arguments, config, &device, report)?;
    compare::compare(&detector, &pictures::read(file)?, &recording)
}
