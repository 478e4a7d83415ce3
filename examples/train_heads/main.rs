//! Trains the box and mask heads of the shipped detector on a class that it has not seen.

mod arguments;
mod data;
mod drawing;
mod error;
mod evaluation;
mod learning;
mod parity;
mod random;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use burn::tensor::Device;
use clap::Parser;
use detection_head::config::Config;
use detection_head::model::MaskRcnn;
use detection_head::{CONFIG, Detector, Recording, WEIGHTS, weights};

use arguments::Arguments;
use data::Frozen;
use drawing::{NEW_SHAPE, SHAPES};
use error::Error;
use evaluation::{Measures, measure, showcase};
use learning::{Run, TrainedHeads, grown};

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
    if let Some(path) = &arguments.compare {
        return compare_with(path, &arguments.backend.device()?);
    }
    let start = Instant::now();
    let devices = arguments.backend.devices(arguments.devices.get())?;
    let run = Run::open(arguments.output.join("run"), arguments.settings(), arguments.restart)?;
    let detector = shipped(Config::read(Path::new(CONFIG))?, &devices[0])?;
    let before = evaluate(&detector, "before", arguments)?;
    println!("{:?} {:?}", before.0, start.elapsed());
    let detector = train(detector, &run, devices)?;
    let after = evaluate(&detector, "after", arguments)?;
    println!("{:?} {:?}", after.0, start.elapsed());
    println!("{} {}", before.old_mean(), after.old_mean());
    run.remove()?;
    Ok(())
}

/// Compares the training of the heads with a recording of torchvision's.
fn compare_with(path: &Path, device: &Device) -> Result<(), Error> {
    let recording = Recording::read(path)?;
    let config = recording.config(Config::read(Path::new(CONFIG))?);
    parity::compare(shipped(config, device)?, &recording)
}

/// The detector with the shipped weights.
fn shipped(config: Config, device: &Device) -> Result<Detector, Error> {
    let mut model = MaskRcnn::new(&config, device);
    weights::load(&mut model, &config, Path::new(WEIGHTS))?;
    Ok(Detector::new(config, model, device.clone()))
}

/// Measures a detector, and draws what it finds.
fn evaluate(detector: &Detector, name: &str, arguments: &Arguments) -> Result<Measures, Error> {
    showcase(detector, arguments.seed + 2, &arguments.output.join(format!("{name}.png")))?;
    measure(detector, arguments.seed + 1, arguments.evaluate.get())
}

/// Adds the new class to a detector, and trains its heads.
fn train(detector: Detector, run: &Run, devices: Vec<Device>) -> Result<Detector, Error> {
    let device = devices[0].clone();
    let Detector { mut config, mut model, .. } = detector;
    config.classes.push(NEW_SHAPE.name().to_string());
    let frozen = Arc::new(Frozen::new(config.clone(), model.clone(), &device));
    let heads = TrainedHeads::new(grown(model.roi_heads, run.settings.seed), &config, devices.len());
    model.roi_heads = run.train(heads, frozen, devices)?.heads;
    Ok(Detector::new(config, model, device))
}
