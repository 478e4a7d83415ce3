//! The stages of a detection, with a progress bar and times.

use std::time::Duration;

use burn_roi_detection::models::{Detector, Stage, StageObserver};
use indicatif::{ProgressBar, ProgressStyle};
use web_time::Instant;

/// Shows and times the stages that it watches.
pub struct Stages {
    bar: ProgressBar,
    begun: Instant,
    times: Vec<(Stage, Duration)>,
}

impl Stages {
    /// Stages with a progress bar.
    pub fn new(detector: &Detector) -> Self {
        let stages = Stage::of(detector.config()).len();
        Self::of(progress_bar(stages as u64))
    }

    /// Stages without a progress bar.
    pub fn hidden() -> Self {
        Self::of(ProgressBar::hidden())
    }

    fn of(bar: ProgressBar) -> Self {
        Self {
            bar,
            begun: Instant::now(),
            times: Vec::new(),
        }
    }

    /// The times of the stages that ran.
    pub fn finish(self) -> Vec<(Stage, Duration)> {
        self.bar.finish_and_clear();
        self.times
    }
}

impl StageObserver for Stages {
    fn waits(&self) -> bool {
        true
    }

    fn begins(&mut self, stage: Stage) {
        self.bar.set_message(stage.name());
        self.begun = Instant::now();
    }

    fn ends(&mut self, stage: Stage) {
        self.times.push((stage, self.begun.elapsed()));
        self.bar.inc(1);
    }
}

/// A progress bar on stderr; hidden if stderr is not a terminal.
pub fn progress_bar(steps: u64) -> ProgressBar {
    let bar = ProgressBar::new(steps);
    if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    bar
}
