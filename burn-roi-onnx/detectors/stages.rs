//! How long each stage of a detector takes. The marks in its code call [`end`].

use std::cell::RefCell;
use std::time::{Duration, Instant};

use burn::tensor::TensorData;

/// The outputs of a detector, and the time of each stage.
pub struct Run {
    pub outputs: Vec<TensorData>,
    pub stages: Vec<(&'static str, Duration)>,
}

impl Run {
    pub fn time(&self) -> Duration {
        self.stages.iter().map(|(_, time)| time).sum()
    }
}

/// The ended stages, in order, and the time of the last end.
struct Log {
    since: Instant,
    stages: Vec<(&'static str, Duration)>,
}

thread_local! {
    static LOG: RefCell<Option<Log>> = const { RefCell::new(None) };
}

/// Begins a run and its first stage.
pub fn begin() {
    let log = Log {
        since: Instant::now(),
        stages: Vec::new(),
    };
    LOG.replace(Some(log));
}

/// Ends a stage and begins the next. A stage may end more than once.
pub fn end(stage: &'static str) {
    LOG.with_borrow_mut(|log| {
        let Some(log) = log else { return };
        let now = Instant::now();
        let time = now - std::mem::replace(&mut log.since, now);
        match log.stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, total)) => *total += time,
            None => log.stages.push((stage, time)),
        }
    });
}

/// Ends the run, and returns the time of each stage in the order in which they first ended.
pub fn take() -> Vec<(&'static str, Duration)> {
    end("masks in the picture");
    LOG.take().map(|log| log.stages).unwrap_or_default()
}
