//! How far a run is: a bar on a terminal.

use std::fmt::Display;

use burn_roi_detection::train::TrainingPace;
use find_objects::progress_bar;
use indicatif::ProgressBar;

pub struct Progress {
    /// Hidden if stderr is not a terminal.
    bar: ProgressBar,
    pub pace: TrainingPace,
}

impl Progress {
    pub fn new(pace: TrainingPace, steps: usize) -> Self {
        let bar = progress_bar(steps as u64);
        bar.set_position(pace.steps() as u64);
        Self { bar, pace }
    }

    /// A step ended. The next begins.
    pub fn step(&mut self, loss: f32) {
        self.pace.step();
        self.bar.inc(1);
        self.bar.set_message(format!("loss {loss:.3}, {}", self.pace));
    }

    /// Prints a line above the bar.
    pub fn line(&self, line: impl Display) {
        self.bar.suspend(|| println!("{line}"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
