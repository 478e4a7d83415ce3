//! Trains a whole detector on pictures with COCO annotations, and measures it as pycocotools does.
//!
//! ```text
//! cargo run --release -p finetune
//! cargo run --release -p finetune -- --coco annotations.json --images folder
//! cargo run --release -p find_objects -- --config target/finetune/config.json \
//!     --weights target/finetune/weights.safetensors --image examples/finetune/coins/right.png
//! ```
//!
//! Without options it trains the shipped detector of drawn shapes on the twelve coins of the left half of a photograph,
//! and measures it on the twelve coins of the right half. `--resume` goes on with a run that was interrupted.

mod arguments;
mod categories;
mod curves;
mod detector;
mod error;
mod evaluation;
mod history;
mod progress;
#[cfg(test)]
mod tests;
mod training;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use burn_roi_detection::data::coco::{CocoEffect, CocoPictures};
use burn_roi_detection::models::Detector;
use clap::Parser;

use arguments::Arguments;
use categories::{check_classes, check_names, check_trained};
use error::Error;
use evaluation::{Measures, evaluate, showcase};
use training::Run;

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
    if arguments.evaluate_only {
        let measures = evaluate_only(arguments)?;
        println!("{measures}");
        return if arguments.check { measures.check() } else { Ok(()) };
    }
    let output = &arguments.output;
    fs::create_dir_all(output).map_err(|source| Error::File {
        action: "create",
        path: output.clone(),
        source,
    })?;
    training::check_checkpoint(arguments)?;
    let (detector, training, test) = prepare(arguments)?;
    report(arguments.training(), &training);
    if arguments.training() != arguments.test() {
        report(arguments.test(), &test);
    }

    if !arguments.resume {
        showcase(&detector, &test, &output.join("before.png"))?;
    }
    let mut run = Run::open(detector, &training, &test, arguments)?;
    run.train(arguments.steps.get())?;
    let detector = run.detector()?;
    showcase(&detector, &test, &output.join("after.png"))?;
    curves::draw(&run.history, &output.join("curves.png"))?;
    println!(
        "wrote history.json, curves.png, before.png and after.png into {}",
        output.display()
    );
    detector::write(&detector, arguments)?;
    training::remove_checkpoint(arguments)?;
    match (arguments.check, run.history.measures.last()) {
        (true, Some((_, measures))) => measures.check(),
        _ => Ok(()),
    }
}

/// The detector that is trained, the pictures that it learns from, and those that it is measured on.
fn prepare(arguments: &Arguments) -> Result<(Detector, CocoPictures, CocoPictures), Error> {
    if arguments.training() == arguments.test() {
        println!("measured on the pictures that it is trained on: --test-coco FILE gives others");
    }
    let training = arguments.read(arguments.training())?;
    check_names(arguments.training()[0], training.dataset())?;
    let test = arguments.read(arguments.test())?;
    check_trained(arguments.test()[0], test.dataset(), training.dataset())?;
    let detector = detector::begin(arguments, training.dataset(), &arguments.devices()?[0])?;
    let training = training.for_heads(detector.config())?;
    let test = measurable(test, &detector)?;
    Ok((detector, training, test))
}

/// The pictures that a detector is measured on. A measurement counts what a training leaves out.
fn measurable(test: CocoPictures, detector: &Detector) -> Result<CocoPictures, Error> {
    let test = test.for_heads(detector.config())?;
    Ok(test.without_problems(CocoEffect::OnlyTraining))
}

/// Prints what was read, mended and left out.
fn report([annotations, _]: [&Path; 2], pictures: &CocoPictures) {
    println!("{}:\n{pictures}", annotations.display());
}

/// Measures the detector that the options name.
fn evaluate_only(arguments: &Arguments) -> Result<Measures, Error> {
    let detector = detector::load(arguments, &arguments.devices()?[0])?;
    let test = arguments.read(arguments.test())?;
    check_names(arguments.test()[0], test.dataset())?;
    let unknown = check_classes(arguments.test()[0], test.dataset(), &detector.config().classes)?;
    let test = measurable(test, &detector)?;
    report(arguments.test(), &test);
    if !unknown.is_empty() {
        println!("the detector does not know these categories: {}", unknown.join(", "));
    }
    evaluate(&detector, &test)
}
