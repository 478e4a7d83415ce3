//! A run of training by burn-train's learner, which an interruption does not end.
//!
//! The learner saves the heads, the optimizer's state and the learning rate after each epoch. After an interruption of
//! any kind, the same command goes on after the last epoch that was saved.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use burn::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
use burn::module::Module;
use burn::optim::AdamWConfig;
use burn::tensor::Device;
use burn::train::checkpoint::KeepLastNCheckpoints;
use burn::train::metric::LossMetric;
use burn::train::{ExecutionStrategy, Learner, MultiDeviceOptim, SupervisedTraining};
use serde::{Deserialize, Serialize};

use super::heads::TrainedHeads;
use super::progress::Progress;
use crate::data::{Frozen, PictureLoader, Pictures};
use crate::error::Error;

/// The parts of a checkpoint, as the learner names its files.
const PARTS: [&str; 3] = ["model", "optim", "scheduler"];
/// The batches of pictures that are not trained on, after each epoch.
const HELD_OUT_BATCHES: usize = 2;

/// What decides the result of a run on a backend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    pub backend: String,
    pub devices: usize,
    pub seed: u64,
    pub epochs: usize,
    /// The batches of an epoch.
    pub batches: usize,
    /// The pictures of a batch.
    pub batch_size: usize,
    /// The learning rate at the start.
    pub rate: f64,
}

impl Settings {
    /// The steps of all epochs. The devices share the batches of an epoch, and the last one takes what remains.
    fn steps(&self) -> Result<usize, Error> {
        let others = (self.devices - 1) * (self.batches / self.devices);
        match self.batches >= self.devices {
            true => Ok(self.epochs * (self.batches - others)),
            false => Err(Error::Argument {
                argument: "--batches",
                value: self.batches.to_string(),
                expected: format!("at least the number of devices, {}", self.devices),
            }),
        }
    }
}

pub struct Run {
    folder: PathBuf,
    pub settings: Settings,
    /// The epochs that an earlier, interrupted command has saved.
    pub done: usize,
}

impl Run {
    /// Goes on with the interrupted run in a folder, or begins a new one.
    pub fn open(folder: PathBuf, settings: Settings, restart: bool) -> Result<Self, Error> {
        let file = folder.join("settings.json");
        if restart && folder.exists() {
            fs::remove_dir_all(&folder).map_err(failed("remove", &folder))?;
        }
        if file.exists() {
            let text = fs::read_to_string(&file).map_err(failed("read", &file))?;
            if serde_json::from_str::<Settings>(&text).ok().as_ref() != Some(&settings) {
                let found = text.split_whitespace().collect::<Vec<_>>().join(" ");
                return Err(Error::OtherRun { folder, found });
            }
        } else {
            fs::create_dir_all(&folder).map_err(failed("create", &folder))?;
            let text = serde_json::to_string_pretty(&settings).map_err(io::Error::from);
            let written = text.and_then(|text| fs::write(&file, text));
            written.map_err(failed("write", &file))?;
        }
        let done = (1..=settings.epochs).rev().find(|&epoch| is_saved(&folder, epoch));
        Ok(Self {
            folder,
            settings,
            done: done.unwrap_or(0),
        })
    }

    /// Where the learner writes the losses.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Trains the heads in the epochs that are left.
    pub fn train(&self, heads: TrainedHeads, frozen: Arc<Frozen>, devices: Vec<Device>) -> Result<TrainedHeads, Error> {
        let settings = &self.settings;
        let training = Pictures {
            seed: settings.seed,
            batches: settings.batches,
            batch_size: settings.batch_size,
            fresh: true,
        };
        let held_out = Pictures {
            seed: settings.seed ^ u64::MAX,
            batches: HELD_OUT_BATCHES,
            fresh: false,
            ..training
        };
        let heads = heads.train().fork(&devices[0].clone().autodiff());
        let rate = CosineAnnealingLrSchedulerConfig::new(settings.rate, settings.steps()?).init();
        let rate = rate.map_err(|expected| Error::Argument {
            argument: "--rate",
            value: settings.rate.to_string(),
            expected,
        })?;
        let mut training = SupervisedTraining::new(
            &self.folder,
            Arc::new(PictureLoader::new(training, frozen.clone(), self.done)),
            Arc::new(PictureLoader::new(held_out, frozen, self.done)),
        )
        .metrics((LossMetric::new(),))
        .with_training_strategy(ExecutionStrategy::multi(devices, MultiDeviceOptim::OptimMainDevice).into())
        .with_default_checkpointers()
        .with_checkpointing_strategy(KeepLastNCheckpoints::new(2))
        .with_application_logger(None)
        .renderer(Box::new(Progress::new()))
        .num_epochs(settings.epochs);
        if self.done > 0 {
            training = training.checkpoint(self.done);
        }
        let result = training.launch(Learner::new(heads, AdamWConfig::new().init(), rate));
        match result.error {
            None => Ok(result.model),
            Some(error) => Err(Error::Training(error)),
        }
    }

    /// Removes the run's files, so that the next command begins a new one.
    pub fn remove(self) -> Result<(), Error> {
        fs::remove_dir_all(&self.folder).map_err(failed("remove", &self.folder))
    }
}

impl fmt::Display for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings {
            backend,
            epochs,
            batches,
            batch_size,
            ..
        } = &self.settings;
        write!(
            formatter,
            "{backend}: {epochs} epochs of {batches} batches of {batch_size} pictures"
        )?;
        match self.done {
            0 => Ok(()),
            done => write!(formatter, "; an interrupted run goes on after epoch {done}"),
        }
    }
}

/// Whether all parts of an epoch's checkpoint are there. Each file is written under another name and then renamed.
fn is_saved(folder: &Path, epoch: usize) -> bool {
    let file = |part| folder.join("checkpoint").join(format!("{part}-{epoch}.bpk"));
    PARTS.into_iter().all(|part| file(part).exists())
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::File { action, path, source }
}
