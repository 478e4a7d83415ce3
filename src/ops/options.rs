//! Checks that are common to the operators' options.

use std::ops::RangeInclusive;

use crate::error::RoiError;
use crate::geometry::options::{Arithmetic, MAXIMUM_FIXED_SAMPLES, MAXIMUM_OUTPUT_SIZE, Sampling};

/// Checks the height and the width of an output.
pub fn output_size(argument: &'static str, size: [usize; 2]) -> Result<(), RoiError> {
    let fits = size.iter().all(|side| (1..=MAXIMUM_OUTPUT_SIZE).contains(side));
    check(argument, fits, format!("{size:?}"), "1 to 32767 in height and in width")
}

/// Checks a spatial scale, which is used in f32.
pub fn scale(argument: &'static str, scale: f64) -> Result<(), RoiError> {
    let single = scale as f32;
    let fits = single.is_finite() && single > 0.0;
    check(argument, fits, scale.to_string(), "finite and above 0")
}

/// Checks a number that is used in f32.
pub fn finite(argument: &'static str, value: f64) -> Result<(), RoiError> {
    check(argument, (value as f32).is_finite(), value.to_string(), "finite")
}

/// Checks how many samples an output element takes.
pub fn sampling(argument: &'static str, sampling: Sampling) -> Result<(), RoiError> {
    let samples = 1..=MAXIMUM_FIXED_SAMPLES;
    let (fits, expected) = match sampling {
        Sampling::Adaptive | Sampling::AdaptiveFloor => (true, ""),
        Sampling::Fixed(fixed) => (samples.contains(&fixed), "1 to 1024 fixed samples"),
        Sampling::Clamped { minimum, .. } if !samples.contains(&minimum) => (false, "1 to 1024 samples at least"),
        Sampling::Clamped { minimum, maximum } => (maximum >= minimum, "a maximum of at least the minimum"),
    };
    check(argument, fits, format!("{sampling:?}"), expected)
}

/// Checks a number against its range.
pub fn within(
    argument: &'static str,
    value: f64,
    range: RangeInclusive<f64>,
    expected: &'static str,
) -> Result<(), RoiError> {
    check(argument, range.contains(&value), value.to_string(), expected)
}

/// The least length of regions that are divided into bins of pixels.
pub fn bin_length(argument: &'static str, length: Option<f64>, whole: bool) -> Result<(), RoiError> {
    let length = length.unwrap_or_default();
    let expected = if whole {
        "a whole number from 0 to 65535"
    } else {
        "0 to 65535"
    };
    let fits = (0.0..=u16::MAX.into()).contains(&length) && (!whole || length.fract() == 0.0);
    check(argument, fits, length.to_string(), expected)
}

/// An error where an option does not fit.
pub fn check(argument: &'static str, fits: bool, value: String, expected: &'static str) -> Result<(), RoiError> {
    if fits {
        return Ok(());
    }
    Err(RoiError::Option {
        argument,
        value,
        expected,
    })
}

/// Checks how many samples an output element takes, of an operator whose samples are no grid of the map.
pub fn fixed_or_adaptive(argument: &'static str, sampling: Sampling) -> Result<(), RoiError> {
    let fits = matches!(sampling, Sampling::Fixed(_) | Sampling::Adaptive);
    check(argument, fits, format!("{sampling:?}"), "Fixed or Adaptive")?;
    self::sampling(argument, sampling)
}

/// Checks how many there are of something, 1 to 1024.
pub fn count(argument: &'static str, count: usize) -> Result<(), RoiError> {
    let fits = (1..=MAXIMUM_FIXED_SAMPLES).contains(&count);
    check(argument, fits, count.to_string(), "1 to 1024")
}

/// Checks the order of operations of such an operator.
pub fn from_elements(argument: &'static str, arithmetic: Arithmetic) -> Result<(), RoiError> {
    let fits = matches!(arithmetic, Arithmetic::FromElements | Arithmetic::FromElementsBySteps);
    check(
        argument,
        fits,
        format!("{arithmetic:?}"),
        "FromElements or FromElementsBySteps",
    )
}
