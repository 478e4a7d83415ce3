//! Trains a Mask R-CNN on pictures with COCO annotations, measures it on others, and writes it.
//!
//! A program of its own has this file as `src/main.rs`, and this `Cargo.toml`:
//!
//! ```toml
//! [package]
//! name = "train"
//! version = "0.1.0"
//! edition = "2024"
//!
//! [dependencies]
//! burn = { version = "0.22.1", default-features = false, features = ["std", "flex"] }
//! burn-roi-detection = { path = "../burn-roi/burn-roi-detection", features = ["train", "pictures"] }
//! ```
//!
//! In a clone of burn-roi, `cargo run --release -p burn-roi-detection --features train,pictures --example train` trains
//! on the shipped coins. `-- 60 own.json test.json config.json weights.safetensors` names the steps and other files.

use std::path::{Path, PathBuf};
use std::{env, error::Error};

use burn::tensor::Device;
use burn_roi_detection::data::coco::{CocoPictures, CocoPicturesConfig};
use burn_roi_detection::models::Detector;
use burn_roi_detection::train::{self, BatchSource, Trainer, TrainerConfig};
use burn_roi_detection::weights;

fn main() -> Result<(), Box<dyn Error>> {
    let steps = env::args().nth(1).map_or(Ok(60), |steps| steps.parse())?;
    let shipped = |name| Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
    let file = |index, name| env::args().nth(index).map_or_else(|| shipped(name), PathBuf::from);

    let config = CocoPicturesConfig::new(); // the pictures are beside their annotations
    let training = CocoPictures::read(file(2, "finetune/coins/left.json"), &config)?;
    let test = CocoPictures::read(file(3, "finetune/coins/right.json"), &config)?;

    // The trained weights stay, except for the last layers: those of the annotations' categories are new.
    let config = weights::read_config(file(4, "find_objects/shapes.json"))?;
    let mut detector = Detector::try_new(config, &Device::flex())?;
    weights::load(file(5, "find_objects/shapes.safetensors"), &mut detector)?;
    let detector = train::with_categories(detector, training.dataset())?;

    let mut source = BatchSource::try_new(training, &detector)?;
    source.min_sizes = vec![128]; // small pictures, for a fast example
    print!("{}", source.pictures); // what was read, and what can't be used
    let mut config = TrainerConfig::new(train::LearningRateSchedule::new(0.002));
    config.losses = train::DetectorLossConfig::for_min_size(128);
    let mut trainer = Trainer::try_new(detector, config)?;
    let mut pace = train::TrainingPace::new(0, steps, 1);
    for batches in source.prefetch(0..steps, 2) {
        let step = trainer.step_batches(&batches?)?;
        pace.step();
        println!("step {}: loss {:.3}, {pace}", pace.steps(), step.total());
    }
    let detector = trainer.detector()?;
    for evaluation in test.evaluate(&detector, || ())? {
        println!("{evaluation}");
    }
    Ok(weights::save(&detector, "target/train")?)
}
