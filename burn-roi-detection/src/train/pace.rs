//! [`TrainingPace`]: how fast a training is.

use std::fmt;
use std::time::{Duration, Instant};

/// The share of the last step in the mean time of a step.
const SHARE: f64 = 0.1;

/// How many pictures a second a training takes, and how long it still needs. Its text is both, such as `2.10
/// pictures/s, 00:05:12 left`.
///
/// ```
/// use burn_roi_detection::train::TrainingPace;
///
/// let mut pace = TrainingPace::new(0, 60, 2);
/// pace.step();
/// assert_eq!(pace.steps(), 1);
/// println!("step {} of 60: {pace}", pace.steps());
/// ```
#[derive(Debug, Clone)]
pub struct TrainingPace {
    taken: usize,
    all: usize,
    pictures_of_step: usize,
    began: Instant,
    /// The mean of the last steps.
    seconds: Option<f64>,
}

impl TrainingPace {
    /// The first step begins.
    ///
    /// - `taken`: the number of steps that were taken before, such as by an interrupted run.
    /// - `all`: the number of steps at the end.
    /// - `pictures_of_step`: the number of pictures of a step, on all devices.
    pub fn new(taken: usize, all: usize, pictures_of_step: usize) -> Self {
        Self {
            taken,
            all,
            pictures_of_step,
            began: Instant::now(),
            seconds: None,
        }
    }

    /// A step ended, and the next begins.
    pub fn step(&mut self) {
        let last = self.began.elapsed().as_secs_f64();
        self.seconds = Some(self.seconds.map_or(last, |mean| mean + SHARE * (last - mean)));
        self.taken += 1;
        self.resume();
    }

    /// The next step begins now: the time since the last one, such as that of a measurement, does not count.
    pub fn resume(&mut self) {
        self.began = Instant::now();
    }

    /// The number of steps that were taken.
    pub fn steps(&self) -> usize {
        self.taken
    }

    /// The pictures of a second, by the mean of the last steps. 0 before the first.
    pub fn pictures_per_second(&self) -> f64 {
        self.pictures_of_step as f64 / self.seconds.unwrap_or(f64::INFINITY)
    }

    /// The time that the remaining steps need. Zero before the first step.
    pub fn time_left(&self) -> Duration {
        let left = self.all.saturating_sub(self.taken);
        Duration::try_from_secs_f64(left as f64 * self.seconds.unwrap_or_default()).unwrap_or(Duration::MAX)
    }
}

impl fmt::Display for TrainingPace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.time_left().as_secs();
        let [hours, minutes, seconds] = [left / 3600, left / 60 % 60, left % 60];
        let rate = self.pictures_per_second();
        write!(
            formatter,
            "{rate:.2} pictures/s, {hours:02}:{minutes:02}:{seconds:02} left"
        )
    }
}
