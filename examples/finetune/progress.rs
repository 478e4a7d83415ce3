//! How far a run is: a bar on a terminal, and how many pictures a second it takes.

use std::fmt::Display;
use std::time::{Duration, Instant};

use find_objects::progress_bar;
use indicatif::{FormattedDuration, ProgressBar};

/// The share of the last step in the mean time of a step.
const SHARE: f64 = 0.1;

pub struct Progress {
    /// Hidden if stderr is not a terminal.
    bar: ProgressBar,
    pictures_of_step: usize,
    began: Instant,
    /// The mean of the last steps.
    seconds: Option<f64>,
}

impl Progress {
    /// - `first`: the number of steps that were taken before.
    pub fn new(first: usize, steps: usize, pictures_of_step: usize) -> Self {
        let bar = progress_bar(steps as u64);
        bar.set_position(first as u64);
        Self {
            bar,
            pictures_of_step,
            began: Instant::now(),
            seconds: None,
        }
    }

    /// A step ended. The next begins.
    pub fn step(&mut self, loss: f32) {
        let last = self.began.elapsed().as_secs_f64();
        let seconds = self.seconds.map_or(last, |mean| mean + SHARE * (last - mean));
        self.seconds = Some(seconds);
        self.bar.inc(1);
        let left = self
            .bar
            .length()
            .unwrap_or_default()
            .saturating_sub(self.bar.position());
        let left = Duration::try_from_secs_f64(left as f64 * seconds).unwrap_or(Duration::MAX);
        let (rate, left) = (self.pictures_a_second(), FormattedDuration(left));
        self.bar
            .set_message(format!("loss {loss:.3}, {rate:.2} pictures/s, {left} left"));
        self.began = Instant::now();
    }

    /// The time since the last step is not the next one's.
    pub fn go_on(&mut self) {
        self.began = Instant::now();
    }

    pub fn pictures_a_second(&self) -> f64 {
        self.pictures_of_step as f64 / self.seconds.unwrap_or(f64::INFINITY)
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

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    #[test]
    fn pauses_do_not_count() {
        let mut progress = Progress::new(2, 10, 4);
        assert_eq!((progress.bar.position(), progress.pictures_a_second()), (2, 0.0));
        sleep(Duration::from_millis(40));
        progress.step(0.25);
        assert!(progress.pictures_a_second() <= 100.0);
        sleep(Duration::from_secs(1));
        progress.go_on();
        progress.step(0.5);
        // With the pause a step would take 0.136 s in the mean.
        assert!(progress.pictures_a_second() > 4.0 / 0.136);
        assert_eq!(progress.bar.position(), 4);
        let message = progress.bar.message();
        let speed = format!("loss 0.500, {:.2} pictures/s, 00:00:0", progress.pictures_a_second());
        assert!(message.starts_with(&speed) && message.ends_with(" left"), "{message}");
    }
}
