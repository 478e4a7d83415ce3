//! [`LearningRateSchedule`]: the learning rate of each step.

use crate::arguments;
use crate::configs::configs;
use crate::error::DetectionError;

configs! {
/// The learning rate of each step: it rises linearly to its peak, stays there, and falls at some steps. This is how the
/// detectors of torchvision and detectron2 were trained.
///
/// ```
/// use burn_roi_detection::train::LearningRateSchedule;
///
/// let schedule = LearningRateSchedule {
///     warmup_steps: 4,
///     warmup_factor: 0.5,
///     milestones: vec![10],
///     gamma: 0.25,
///     ..LearningRateSchedule::new(0.5)
/// };
/// assert_eq!([0, 2, 4, 9, 10].map(|step| schedule.rate(step)), [0.25, 0.375, 0.5, 0.5, 0.125]);
/// ```
pub struct LearningRateSchedule {
    /// The learning rate after the warm-up. Finite, 0 or above.
    pub peak: f64,
    /// The number of steps in which the rate rises.
    pub warmup_steps: usize = 0,
    /// The rate of the first of these steps, relative to the peak: from 0 to 1.
    pub warmup_factor: f64 = 0.001,
    /// The steps, counted from 0, at which the rate is multiplied by `gamma`.
    pub milestones: Vec<usize> = Vec::new(),
    /// The factor of the rate at each milestone. Finite, 0 or above.
    pub gamma: f64 = 0.1,
}
}

impl LearningRateSchedule {
    /// The learning rate of a step, counted from 0.
    pub fn rate(&self, step: usize) -> f64 {
        let warmup = match step < self.warmup_steps {
            true => self.warmup_factor + (1.0 - self.warmup_factor) * step as f64 / self.warmup_steps as f64,
            false => 1.0,
        };
        let passed = self.milestones.iter().filter(|&&milestone| step >= milestone).count();
        self.peak * warmup * self.gamma.powf(passed as f64)
    }

    pub(super) fn check(&self) -> Result<(), DetectionError> {
        for (argument, value) in [("peak", self.peak), ("gamma", self.gamma)] {
            let fits = value.is_finite() && value >= 0.0;
            arguments::check(argument, fits, value, "finite, and 0 or above")?;
        }
        let factor = self.warmup_factor;
        arguments::check("warmup_factor", (0.0..=1.0).contains(&factor), factor, "from 0 to 1")
    }
}
