//! Trains a whole detector on pictures with COCO annotations, and measures it before and after as pycocotools does.
//!
//! ```text
//! cargo run --release -p finetune
//! cargo run --release -p finetune -- --coco annotations.json --images folder
//! cargo run --release -p detection_head -- --config target/finetune/config.json \
//!     --weights target/finetune/weights.safetensors --image examples/finetune/coins/right.png
//! ```
//!
//! Without options it trains the shipped detector of drawn shapes on the twelve coins of the left half of a photograph,
//! and measures it on the twelve coins of the right half. A run that was interrupted goes on from its checkpoint.

mod arguments;
mod batches;
mod error;
mod evaluation;
#[cfg(test)]
mod tests;
mod training;

use std::fs;
use std::process::ExitCode;

use burn::config::Config;
use burn_roi_detection::data::coco::CocoDataset;
use burn_roi_detection::models::Detector;
use burn_roi_detection::train::with_new_classes;
use burn_roi_detection::weights::{NameTable, StateDict};
use clap::Parser;

use arguments::Arguments;
use batches::Pictures;
use error::Error;
use evaluation::{evaluate, showcase};

/// The seed of the layers that are replaced.
const LAYERS_SEED: u64 = 7;

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
    fs::create_dir_all(&arguments.output).map_err(|source| Error::File {
        action: "create",
        path: arguments.output.clone(),
        source,
    })?;
    let device = arguments.backend.device()?;
    device.seed(LAYERS_SEED);
    let training = Pictures::read(&arguments.coco, &arguments.images)?;
    let test = Pictures::read(&arguments.test_coco, arguments.test_images())?;

    let mut detector = Detector::try_new(detection_head::config::read(&arguments.config)?, &device)?;
    StateDict::read(&arguments.weights)?.load_into(&mut detector, NameTable::torchvision)?;
    let detector = with_new_classes(detector, classes(&training.dataset))?;
    println!("before\n{}", evaluate(&detector, &test)?);
    showcase(&detector, &test, &arguments.output.join("before.png"))?;

    let detector = training::train(detector, &training, arguments)?;
    let measures = evaluate(&detector, &test)?;
    println!("after\n{measures}");
    showcase(&detector, &test, &arguments.output.join("after.png"))?;
    write(&detector, arguments)?;
    match arguments.check {
        true => measures.check(),
        false => Ok(()),
    }
}

/// The background and the categories, in the order of their labels.
fn classes(dataset: &CocoDataset) -> Vec<String> {
    let names = dataset.categories().iter().map(|category| category.name.clone());
    ["__background__".to_string()].into_iter().chain(names).collect()
}

/// Writes the weights and the configuration that other commands load.
fn write(detector: &Detector, arguments: &Arguments) -> Result<(), Error> {
    let [config, weights] = ["config.json", "weights.safetensors"].map(|name| arguments.output.join(name));
    detector.config().save(&config).map_err(|source| Error::File {
        action: "write",
        path: config.clone(),
        source,
    })?;
    StateDict::of(detector, NameTable::torchvision)?.write(&weights)?;
    println!(
        "wrote losses.csv, before.png and after.png into {}, and the detector:",
        arguments.output.display()
    );
    println!("  --config {} --weights {}", config.display(), weights.display());
    Ok(())
}
