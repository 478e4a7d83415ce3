//! A run: steps, measures, progress and checkpoints.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use burn::tensor::Device;
use burn_roi_detection::TrainingSamplesConfig;
use burn_roi_detection::models::Detector;
use burn_roi_detection::train::{DetectorLossConfig, HalfPrecision, LearningRateSchedule, Trainer, TrainerConfig};

use crate::arguments::{Arguments, Half};
use crate::batches::batches;
use crate::error::Error;
use crate::evaluation::evaluate;
use crate::history::{History, Step};
use crate::pictures::Pictures;

/// The longest time without a checkpoint. The first step has one too, since a measurement may be hours away.
const SAVED_EVERY: Duration = Duration::from_secs(300);

/// A run that an interruption does not end: [`Run::open`] goes on from its checkpoint.
pub struct Run<'a> {
    trainer: Trainer,
    devices: Vec<Device>,
    pub history: History,
    training: &'a Pictures,
    test: &'a Pictures,
    arguments: &'a Arguments,
}

impl<'a> Run<'a> {
    /// Begins a run and measures its detector, or goes on with an interrupted one.
    pub fn open(
        detector: Detector,
        training: &'a Pictures,
        test: &'a Pictures,
        arguments: &'a Arguments,
    ) -> Result<Self, Error> {
        let devices = arguments.devices()?;
        let mut history = match arguments.resume {
            true => History::read(arguments)?,
            false => History::new(arguments)?,
        };
        if !arguments.resume {
            let measures = evaluate(&detector, &training.dataset, test)?;
            println!("before: {measures}");
            history.measures.push((0, measures));
        }
        let options = options(arguments, detector.config().preprocessing.min_size);
        let mut trainer = Trainer::try_new(detector, options)?;
        if arguments.resume {
            trainer.load(checkpoint(arguments))?;
            history = history.until(trainer.steps(), arguments)?;
            println!("goes on after step {}", trainer.steps());
        }
        Ok(Self {
            trainer,
            devices,
            history,
            training,
            test,
            arguments,
        })
    }

    /// Takes the steps that are left, or those before step `end`.
    pub fn train(&mut self, end: usize) -> Result<(), Error> {
        let start = Instant::now();
        let interval = self.arguments.interval();
        let detector = self.trainer.detector()?;
        let (devices, first) = (&self.devices, self.trainer.steps());
        let mut saved: Option<Instant> = None;
        let batches = batches(self.training, detector.config(), devices, first, self.arguments);
        for step in batches.take(end.saturating_sub(self.trainer.steps())) {
            self.history.steps.push(self.trainer.step_batches(&step?)?.into());
            let steps = self.trainer.steps();
            let is_last = steps == self.arguments.steps.get();
            if steps.is_multiple_of(interval) || is_last {
                let taken = steps - steps.saturating_sub(1) / interval * interval;
                println!(
                    "{}, after {} s",
                    losses(&self.history.steps, taken),
                    start.elapsed().as_secs()
                );
                self.pause()?;
                saved = Some(Instant::now());
            } else if saved.is_none_or(|saved| saved.elapsed() >= SAVED_EVERY) {
                self.save()?;
                saved = Some(Instant::now());
            }
        }
        Ok(())
    }

    /// Measures the detector, and writes what the run can go on from.
    fn pause(&mut self) -> Result<(), Error> {
        let measures = evaluate(&self.trainer.detector()?, &self.training.dataset, self.test)?;
        println!("  {measures}");
        self.history.measures.push((self.trainer.steps(), measures));
        self.save()
    }

    /// Writes what the run can go on from.
    fn save(&self) -> Result<(), Error> {
        // A history may have more steps than its checkpoint, but not fewer.
        self.history.write(self.arguments)?;
        Ok(self.trainer.save(checkpoint(self.arguments))?)
    }

    pub fn detector(&self) -> Result<Detector, Error> {
        Ok(self.trainer.detector()?)
    }
}

/// An error if an interrupted run would be lost, or if there is none to go on with.
pub fn check_checkpoint(arguments: &Arguments) -> Result<(), Error> {
    let path = checkpoint(arguments);
    match (path.exists(), arguments.resume) {
        (true, false) => Err(Error::Interrupted(path)),
        (false, true) => Err(Error::NothingToResume(path)),
        _ => Ok(()),
    }
}

/// Removes the checkpoint of a run that has ended.
pub fn remove_checkpoint(arguments: &Arguments) -> Result<(), Error> {
    let path = checkpoint(arguments);
    fs::remove_file(&path).map_err(|source| Error::File {
        action: "remove",
        path,
        source,
    })
}

fn checkpoint(arguments: &Arguments) -> PathBuf {
    arguments.output.join("checkpoint")
}

/// `min_size`: the detector's, which the arguments may replace.
fn options(arguments: &Arguments, min_size: usize) -> TrainerConfig {
    let steps = arguments.steps.get();
    let schedule = LearningRateSchedule {
        warmup_steps: steps / 12,
        milestones: vec![3 * steps / 4],
        ..LearningRateSchedule::new(arguments.rate)
    };
    let min_size = arguments.min_size.iter().copied().max().unwrap_or(min_size);
    TrainerConfig {
        losses: losses_of_pictures(min_size),
        frozen_stages: arguments.frozen_stages,
        max_gradient_norm: Some(5.0),
        half_precision: arguments.half.map(|half| match half {
            Half::F16 => HalfPrecision::F16 { loss_scale: 1024.0 },
            Half::Bf16 => HalfPrecision::BF16,
        }),
        seed: arguments.seed,
        ..TrainerConfig::new(schedule)
    }
}

/// torchvision's numbers, which are for pictures of 800 x 1333 pixels, or smaller ones for pictures below half of that.
fn losses_of_pictures(min_size: usize) -> DetectorLossConfig {
    if min_size >= 400 {
        return DetectorLossConfig::new();
    }
    DetectorLossConfig {
        pre_nms_top_n: 300,
        post_nms_top_n: 200,
        anchors_per_image: 64,
        samples: TrainingSamplesConfig {
            batch_size_per_image: 64,
            ..TrainingSamplesConfig::new()
        },
        ..DetectorLossConfig::new()
    }
}

/// The means of the losses of the last steps.
fn losses(steps: &[Step], count: usize) -> String {
    let last = &steps[steps.len() - count..];
    let mut line = format!("step {}:", steps.len());
    for (place, (name, _)) in last[0].losses.iter().enumerate() {
        let sum: f32 = last.iter().map(|step| step.losses[place].1).sum();
        let name = name.strip_prefix("loss_").unwrap_or(name);
        _ = write!(line, " {name} {:.3}", sum / count as f32);
    }
    line
}
