//! Which numbers of a sequence may lie in a range of positions: an estimate that may be too wide, never too narrow.

#[cfg(feature = "cube")]
use cubecl::prelude::*;

use super::Real;

/// Numbers from `first` up to `end`.
#[cfg_attr(feature = "cube", derive(CubeType))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    pub first: u32,
    pub end: u32,
}

/// Those of `count` numbers whose positions, `origin + number * step`, may lie between `low` and `high`.
#[cfg_attr(feature = "cube", cube)]
pub fn between(origin: Real, step: Real, low: Real, high: Real, count: u32) -> Reach {
    let mut first = 0u32;
    let mut end = count;
    let magnitude = step.abs();
    // With smaller steps, rounding errors exceed the distance of the numbers.
    if magnitude > 1e-6 {
        let one = (low - origin) / step;
        let other = (high - origin) / step;
        let nearest = one.min(other);
        let farthest = one.max(other);
        // 1 for the rounding of a whole number, and a few units in the last place of what is added up.
        let slack = 1.0 + (nearest.abs() + farthest.abs()) * 1e-6 + origin.abs() * 1e-6 / magnitude;
        let most = count as Real;
        first = (nearest - slack).floor().clamp(0.0, most) as u32;
        end = (farthest + slack).ceil().clamp(0.0, most) as u32;
        // A count above 2^24 may be rounded up.
        first = first.min(count);
        if end > 0u32 {
            end = (end + 1u32).min(count);
        }
    }
    Reach { first, end }
}
