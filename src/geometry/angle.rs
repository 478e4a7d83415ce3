//! What the angle of a rotated box means, as values.

use serde::{Deserialize, Serialize};

/// What the angle of a rotated box `[center x, center y, width, height, angle]` means.
///
/// At angle 0 the width lies along x and the height along y. The angle turns the box about its centre.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AngleConvention {
    /// The unit of the angle.
    pub unit: AngleUnit,
    /// The direction that a positive angle turns the box in.
    pub direction: RotationDirection,
}

impl AngleConvention {
    /// detectron2's convention.
    pub const DEGREES_COUNTER_CLOCKWISE: Self = Self {
        unit: AngleUnit::Degrees,
        direction: RotationDirection::CounterClockwise,
    };

    /// The convention of mmcv's `roi_align_rotated` and OpenVINO's `ROIAlignRotated` without their option for clockwise
    /// angles.
    pub const RADIANS_COUNTER_CLOCKWISE: Self = Self {
        unit: AngleUnit::Radians,
        direction: RotationDirection::CounterClockwise,
    };

    /// The convention of mmcv's `box_iou_rotated` and `nms_rotated`, which are clockwise by default, and of
    /// `diff_iou_rotated_2d`.
    pub const RADIANS_CLOCKWISE: Self = Self {
        unit: AngleUnit::Radians,
        direction: RotationDirection::Clockwise,
    };

    /// Radians, which a positive angle counts clockwise or counter-clockwise.
    pub(crate) fn radians(clockwise: bool) -> Self {
        match clockwise {
            true => Self::RADIANS_CLOCKWISE,
            false => Self::RADIANS_COUNTER_CLOCKWISE,
        }
    }

    /// Radians per unit of the angle, counter-clockwise; negative for clockwise.
    pub(crate) fn in_radians(self) -> f64 {
        let radians = match self.unit {
            AngleUnit::Degrees => std::f64::consts::PI / 180.0,
            AngleUnit::Radians => 1.0,
        };
        match self.direction {
            RotationDirection::CounterClockwise => radians,
            RotationDirection::Clockwise => -radians,
        }
    }
}

/// The unit of an angle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AngleUnit {
    /// 360 are a full turn.
    Degrees,
    /// 2π are a full turn.
    Radians,
}

/// The direction of a rotation, as seen in an image, whose y axis points down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RotationDirection {
    /// From the x axis towards the y axis: after a quarter turn, what pointed right points down.
    Clockwise,
    /// From the y axis towards the x axis: after a quarter turn, what pointed right points up.
    CounterClockwise,
}
