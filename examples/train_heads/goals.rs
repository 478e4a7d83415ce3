//! What `--check` asks of a run.

use crate::drawing::NEW_SHAPE;
use crate::error::Error;
use crate::evaluation::Measures;

/// The least box AP50 of the new class.
const NEW_CLASS: f64 = 0.80;
/// By how much the mean box AP50 of the old classes may fall.
const OLD_CLASSES: f64 = 0.02;

/// An error that names the goals that are missed.
pub fn check(before: &Measures, after: &Measures) -> Result<(), Error> {
    let mut missed = Vec::new();
    if after.of_new() < NEW_CLASS {
        let (name, value) = (NEW_SHAPE.name(), after.of_new());
        missed.push(format!("the {name} has a box AP50 of {value:.3}, below {NEW_CLASS}"));
    }
    let fall = before.old_mean() - after.old_mean();
    if fall > OLD_CLASSES {
        missed.push(format!(
            "the mean of the old classes fell by {fall:.3}, more than {OLD_CLASSES}"
        ));
    }
    match missed.is_empty() {
        true => Ok(()),
        false => Err(Error::Missed(missed)),
    }
}
