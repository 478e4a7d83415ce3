//! A run: steps, measures, progress and checkpoints.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use burn_roi_detection::data::coco::CocoPictures;
use burn_roi_detection::models::Detector;
use burn_roi_detection::train::{
    DetectorLossConfig, HalfPrecision, LearningRateSchedule, Trainer, TrainerConfig, TrainingError, TrainingPace,
};

use crate::arguments::{Arguments, Half};
use crate::error::Error;
use crate::evaluation::evaluate;
use crate::history::{History, Step};
use crate::progress::Progress;

/// A run that an interruption does not end: [`Run::open`] goes on from its checkpoint.
pub struct Run<'a> {
    trainer: Trainer,
    pub history: History,
    training: &'a CocoPictures,
    test: &'a CocoPictures,
    arguments: &'a Arguments,
}

impl<'a> Run<'a> {
    /// Begins a run, or goes on with an interrupted one.
    pub fn open(
        detector: Detector,
        training: &'a CocoPictures,
        test: &'a CocoPictures,
        arguments: &'a Arguments,
    ) -> Result<Self, Error> {
        let mut history = match arguments.resume {
            true => History::read(arguments)?,
            false => History::new(arguments)?,
        };
        if arguments.evaluate_first && !arguments.resume {
            let measures = evaluate(&detector, test)?;
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
        println!(
            "the learning rate is {}, for {} pictures a step",
            arguments.rate(),
            arguments.pictures_of_step()
        );
        Ok(Self {
            trainer,
            history,
            training,
            test,
            arguments,
        })
    }

    /// Takes the steps that are left, or those before step `end`.
    pub fn train(&mut self, end: usize) -> Result<(), Error> {
        let (start, arguments) = (Instant::now(), self.arguments);
        let (interval, checkpoint_time) = (arguments.interval(), arguments.checkpoint_time());
        let detector = self.trainer.detector()?;
        let (first, steps) = (self.trainer.steps(), arguments.steps.get());
        // The first step has a checkpoint too, since a measurement may be hours away.
        let mut saved: Option<Instant> = None;
        let batches = arguments.batches(self.training, detector.config())?;
        let batches = batches.prefetch(first..steps, arguments.threads());
        let pace = TrainingPace::new(first, steps, arguments.pictures_of_step());
        let mut progress = Progress::new(pace, steps);
        for step in batches.take(end.saturating_sub(first)) {
            let step = self.trainer.step_batches(&step?);
            let step = step.map_err(|error| explained(error, arguments))?;
            progress.step(step.total());
            self.history.steps.push(step.into());
            let steps = self.trainer.steps();
            let is_last = steps == arguments.steps.get();
            if steps.is_multiple_of(interval) || is_last {
                let taken = steps - steps.saturating_sub(1) / interval * interval;
                let losses = losses(&self.history.steps, taken);
                let (rate, seconds) = (progress.pace.pictures_per_second(), start.elapsed().as_secs());
                progress.line(format!("{losses}, {rate:.2} pictures/s, after {seconds} s"));
                self.pause(&progress)?;
            } else if saved.is_none_or(|saved| saved.elapsed() >= checkpoint_time) {
                self.save()?;
            } else {
                continue;
            }
            saved = Some(Instant::now());
            progress.pace.resume();
        }
        Ok(())
    }

    /// Measures the detector, and writes what the run can go on from.
    fn pause(&mut self, progress: &Progress) -> Result<(), Error> {
        let measures = evaluate(&self.trainer.detector()?, self.test)?;
        progress.line(format!("  {measures}"));
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

/// What to do about a loss that is not finite.
fn explained(error: TrainingError, arguments: &Arguments) -> Error {
    let source = match &error {
        TrainingError::Batch { source, .. } => source,
        error => error,
    };
    match source {
        TrainingError::NotFinite { .. } => Error::NotFinite {
            source: Box::new(error),
            rate: arguments.rate(),
            checkpoint: checkpoint(arguments),
        },
        _ => error.into(),
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
        ..LearningRateSchedule::new(arguments.rate())
    };
    let min_size = arguments.min_size.iter().copied().max().unwrap_or(min_size);
    TrainerConfig {
        losses: DetectorLossConfig::for_min_size(min_size),
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
