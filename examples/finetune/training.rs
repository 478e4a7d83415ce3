//! The run: steps, progress, losses and checkpoints.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

use burn_roi_detection::TrainingSamplesConfig;
use burn_roi_detection::models::Detector;
use burn_roi_detection::train::{DetectorLossConfig, LearningRateSchedule, Trainer, TrainerConfig, TrainingStep};

use crate::arguments::Arguments;
use crate::batches::{Pictures, batches};
use crate::error::Error;

/// The steps between two lines of progress, and between two checkpoints.
const INTERVAL: usize = 20;

/// Trains a detector in the steps that are left, and removes the checkpoint at the end.
pub fn train(detector: Detector, pictures: &Pictures, arguments: &Arguments) -> Result<Detector, Error> {
    let (config, device) = (detector.config().clone(), detector.device().clone());
    let mut trainer = Trainer::try_new(detector, options(arguments))?;
    let checkpoint = arguments.output.join("checkpoint");
    if checkpoint.exists() {
        trainer.load(&checkpoint)?;
        println!("an interrupted run goes on after step {}", trainer.steps());
    }
    let mut steps = Vec::new();
    let start = Instant::now();
    for batch in batches(pictures, &config, &device, trainer.steps(), arguments) {
        steps.push(trainer.step(&batch?)?);
        if trainer.steps().is_multiple_of(INTERVAL) {
            report(&steps[steps.len().saturating_sub(INTERVAL)..], start);
            trainer.save(&checkpoint)?;
        }
    }
    write_losses(&steps, &arguments.output.join("losses.csv"))?;
    if checkpoint.exists() {
        fs::remove_file(&checkpoint).map_err(|source| Error::File {
            action: "remove",
            path: checkpoint,
            source,
        })?;
    }
    Ok(trainer.detector()?)
}

fn options(arguments: &Arguments) -> TrainerConfig {
    let steps = arguments.steps.get();
    let schedule = LearningRateSchedule::new(arguments.rate)
        .with_warmup_steps(steps / 12)
        .with_milestones(vec![3 * steps / 4]);
    // torchvision's numbers are for pictures of 800 x 1333 pixels.
    let losses = DetectorLossConfig::new()
        .with_pre_nms_top_n(300)
        .with_post_nms_top_n(200)
        .with_anchors_per_image(64)
        .with_samples(TrainingSamplesConfig::new().with_batch_size_per_image(64));
    TrainerConfig::new(schedule)
        .with_losses(losses)
        .with_frozen_stages(arguments.frozen_stages)
        .with_max_gradient_norm(Some(5.0))
        .with_seed(arguments.seed)
}

/// Prints the mean of each loss.
fn report(steps: &[TrainingStep], start: Instant) {
    let Some(last) = steps.last() else { return };
    let mut line = format!("step {}:", last.step + 1);
    for (place, (name, _)) in last.losses.iter().enumerate() {
        let sum: f32 = steps.iter().map(|step| step.losses[place].1).sum();
        let name = name.strip_prefix("loss_").unwrap_or(name);
        _ = write!(line, " {name} {:.3}", sum / steps.len() as f32);
    }
    println!("{line}, after {} s", start.elapsed().as_secs());
}

/// Writes the learning rate and the losses of each step as a table.
fn write_losses(steps: &[TrainingStep], path: &Path) -> Result<(), Error> {
    let names = steps
        .first()
        .map_or_else(Vec::new, |step| step.losses.iter().map(|(name, _)| *name).collect());
    let mut text = format!("step,learning_rate,{}\n", names.join(","));
    for step in steps {
        _ = write!(text, "{},{}", step.step, step.learning_rate);
        for (_, loss) in &step.losses {
            _ = write!(text, ",{loss}");
        }
        text.push('\n');
    }
    fs::write(path, text).map_err(|source| Error::File {
        action: "write",
        path: path.to_owned(),
        source,
    })
}
