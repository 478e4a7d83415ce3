//! Which level of a feature pyramid a box belongs to, as values.

/// A range of box areas, in box coordinates: the boxes of one level of a feature pyramid.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "remote", derive(serde::Serialize, serde::Deserialize))]
pub struct AreaRange {
    pub from: f64,
    /// The least area above the range.
    pub below: f64,
}

impl AreaRange {
    /// Every box.
    pub const ALL: Self = Self {
        from: 0.0,
        below: f64::INFINITY,
    };

    /// Whether boxes without area belong to it.
    pub fn begin_at_zero(&self) -> bool {
        self.from == 0.0
    }
}

/// The level of a box:
/// `floor(canonical_level + log2(sqrt(area) / canonical_scale + ratio_epsilon) + level_epsilon)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelRule {
    /// The side of a square box that belongs to the canonical level.
    pub canonical_scale: f64,
    /// The level of such a box; one pixel of the map of level `k` stands for `2^k` pixels of the image.
    pub canonical_level: i32,
    /// Added to the ratio of the sides.
    pub ratio_epsilon: f64,
    /// Added to the level.
    pub level_epsilon: f64,
}
