//! Teaches the shipped detector a class that it has not seen: trains its box and mask heads on drawn pictures, and
//! measures what it finds before and after.
//!
//! ```text
//! cargo run --release -p train_heads
//! cargo run --release -p train_heads -- --compare examples/train_heads/parity.safetensors
//! cargo run --release -p train_heads --features cuda -- --backend cuda --devices 2
//! cargo run --release -p detection_head -- --config target/train_heads/shapes.json \
//!     --weights target/train_heads/shapes.safetensors --image picture.png
//! ```
//!
//! - `drawing/` draws the pictures: the five shapes of the shipped detector, and the cross, which is new.
//! - `data/` computes features and proposals without gradients, and draws samples from the proposals by
//!   `burn_roi_detection`.
//! - `learning/` has the training step, which pools the samples by `burn_roi` and uses its losses, and the run.
//! - `evaluation/` measures the box AP50 of each class on other pictures.
//! - `parity/` repeats 20 steps that torchvision took and `record.py` recorded, and compares the losses and the
//!   weights.
//!
//! The run is one of burn-train's learner: its training loop, gradients of several devices, metrics, logs and
//! checkpoints. A run that was interrupted goes on after its last epoch. Two parts of burn-train do not serve here. Its
//! data loaders shuffle by a generator that checkpoints do not keep, so `data/loader.rs` has one that does not need it.
//! It has no metric of detections, so `evaluation/` computes AP50.

mod arguments;
mod curve;
mod data;
mod drawing;
mod error;
mod evaluation;
mod goals;
mod learning;
mod parity;
mod random;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use burn::config::Config;
use burn::tensor::Device;
use burn_roi_detection::models::{Detector, DetectorConfig};
use burn_roi_detection::weights::{NameTable, StateDict};
use clap::Parser;
use detection_head::{CONFIG, Recording, WEIGHTS, config};

use arguments::Arguments;
use data::Frozen;
use drawing::NEW_SHAPE;
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
    let devices = arguments.backend.devices(arguments.devices.get())?;
    let run = Run::open(arguments.output.join("run"), arguments.settings(), arguments.restart)?;
    println!("{run}");
    let detector = shipped(config::read(Path::new(CONFIG))?, &devices[0])?;
    let before = evaluate(&detector, "before", arguments)?;
    let detector = train(detector, &run, devices)?;
    let after = evaluate(&detector, "after", arguments)?;
    Measures::print(&before, &after, arguments.evaluate.get());
    write(&detector, &run, &arguments.output)?;
    run.remove()?;
    match arguments.check {
        true => goals::check(&before, &after),
        false => Ok(()),
    }
}

/// Compares the training of the heads with a recording of torchvision's.
fn compare_with(path: &Path, device: &Device) -> Result<(), Error> {
    let recording = Recording::read(path)?;
    let config = recording.config(config::read(Path::new(CONFIG))?);
    parity::compare(shipped(config, device)?, &recording)
}

/// The detector with the shipped weights.
fn shipped(config: DetectorConfig, device: &Device) -> Result<Detector, Error> {
    let mut detector = Detector::try_new(config, device)?;
    StateDict::read(WEIGHTS)?.load_into(&mut detector, NameTable::torchvision)?;
    Ok(detector)
}

/// Measures a detector, and draws what it finds. The seeds are not those of training.
fn evaluate(detector: &Detector, name: &str, arguments: &Arguments) -> Result<Measures, Error> {
    let [measured, shown] = [1, 2].map(|offset| arguments.seed.wrapping_add(offset));
    showcase(detector, shown, &arguments.output.join(format!("{name}.png")))?;
    measure(detector, measured, arguments.evaluate.get())
}

/// Adds the new class to a detector, and trains its heads.
fn train(detector: Detector, run: &Run, devices: Vec<Device>) -> Result<Detector, Error> {
    let device = devices[0].clone();
    let frozen = Arc::new(Frozen::new(detector.clone())?);
    let (mut config, mut model) = detector.into_parts();
    config.classes.push(NEW_SHAPE.name().to_string());
    let heads = TrainedHeads::new(grown(model.roi_heads, run.settings.seed), &config, devices.len());
    model.roi_heads = run.train(heads, frozen, devices)?.heads;
    Ok(Detector::try_from_model(config, model, &device)?)
}

/// Writes the weights, their configuration and the loss curve.
fn write(detector: &Detector, run: &Run, folder: &Path) -> Result<(), Error> {
    let [config, weights, curve] = ["shapes.json", "shapes.safetensors", "curve.png"].map(|name| folder.join(name));
    detector.config().save(&config).map_err(|source| Error::File {
        action: "write",
        path: config.clone(),
        source,
    })?;
    StateDict::of(detector, NameTable::torchvision)?.write(&weights)?;
    curve::Losses::read(run.folder(), run.settings.epochs).draw(&curve)?;
    println!(
        "\nwrote curve.png, before.png and after.png into {}, and the detector:",
        folder.display()
    );
    println!("  --config {} --weights {}", config.display(), weights.display());
    Ok(())
}
