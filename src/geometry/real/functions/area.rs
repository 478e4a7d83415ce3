//! Which level of a feature pyramid a box belongs to, by its area. Compiled for both types of
//! coordinates: `Real` is the parent's.

#[cfg(feature = "cube")]
use cubecl::prelude::*;

use super::Real;
use crate::geometry::levels::LevelRule;

rule! {
/// The areas that a call computes. Ranges that follow each other from 0 to [`LARGEST_AREA`] and beyond
/// hold every box once.
#[cfg_attr(feature = "cube", derive(CubeType, CubeLaunch))]
pub struct AreaRule {
    pub from: Real,
    /// The least area beyond it.
    pub below: Real,
}
}

/// Larger areas, infinite ones among them, count as this. It is below the largest float, so that a range
/// up to there has no end.
const LARGEST_AREA: Real = 1e37;

const NO_AREA: Real = 0.0;

/// Whether the area of a box is in range. An area that is not above 0, as of a box that is inverted along one axis, and
/// NaN count as 0.
#[cfg_attr(feature = "cube", cube)]
pub fn in_range(rule: &AreaRule, y1: Real, x1: Real, y2: Real, x2: Real) -> bool {
    // One product: nothing that a device could fuse or reorder.
    let area = (x2 - x1) * (y2 - y1);
    let counted = if area > NO_AREA {
        area.min(LARGEST_AREA)
    } else {
        NO_AREA
    };
    counted >= rule.from && counted < rule.below
}

/// The least area whose box belongs to `level` or to a coarser one, infinite if there is none. Comparing areas is exact
/// on every device, and a logarithm is not.
pub fn least_area(rule: &LevelRule, level: i32) -> Real {
    let (mut low, mut high) = ((0.0 as Real).to_bits(), Real::INFINITY.to_bits());
    // The bits of positive floats are in the order of the floats.
    while low < high {
        let middle = low + (high - low) / 2;
        if level_of(rule, Real::from_bits(middle)) >= level as Real {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Real::from_bits(high)
}

/// The level of an area, in the order of operations of torchvision and detectron2.
#[allow(clippy::unnecessary_cast)]
fn level_of(rule: &LevelRule, area: Real) -> Real {
    let ratio = area.sqrt() / rule.canonical_scale as Real + rule.ratio_epsilon as Real;
    // By way of f64, which rounds the same on every host.
    let logarithm = (ratio as f64).log2() as Real;
    (rule.canonical_level as Real + logarithm + rule.level_epsilon as Real).floor()
}
